package probe

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/andybalholm/brotli"
)

// A decoder that makes room only for what is read gives what one with all the room does, even
// where a body repeats what is as far back as can be.
func TestBrotliIsReadAsWithAllItsRoom(t *testing.T) {
	t.Parallel()
	const most = longBody + framing
	random := rand.NewChaCha8([32]byte{})
	for _, size := range []int{1, shortBody, longBody - 16, longBody + 16, 3 * longBody} {
		text := make([]byte, size)
		_, _ = random.Read(text)
		repeated := text[:min(size, 1000)] // at the last place that is read, and the next
		copy(text[max(0, min(size, longBody-16)-len(repeated)):], repeated)
		for _, window := range []int{10, 16, 17, 18, 20, 21, 22, 24} {
			t.Run(fmt.Sprintf("%d bytes, window %d", size, window), func(t *testing.T) {
				t.Parallel()
				var packed bytes.Buffer
				w := brotli.NewWriterOptions(&packed, brotli.WriterOptions{Quality: 5, LGWin: window})
				if _, err := w.Write(text); err != nil {
					t.Fatal(err)
				}
				if err := w.Close(); err != nil {
					t.Fatal(err)
				}
				body, release, err := decoder(http.Header{"Content-Encoding": {"br"}}, &packed, most)
				if err != nil {
					t.Fatal(err)
				}
				defer release()
				got, err := io.ReadAll(body)
				if cut := size >= longBody-16; cut != errors.Is(err, errCut) || !cut && err != nil {
					t.Error(err)
				}
				if want := text[:min(size, longBody-16)]; !bytes.Equal(got, want) {
					t.Errorf("%d bytes, not the %d that were sent", len(got), len(want))
				}
			})
		}
	}
}
