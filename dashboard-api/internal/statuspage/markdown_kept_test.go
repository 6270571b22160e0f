package statuspage

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/parser"
)

// counted is Markdown that counts how often something is turned into HTML.
type counted struct {
	goldmark.Markdown
	n atomic.Int64
}

func (c *counted) Convert(source []byte, out io.Writer, options ...parser.ParseOption) error {
	c.n.Add(1)
	return c.Markdown.Convert(source, out, options...)
}

// Pages are made again all the time: what is asked for all the time is turned into HTML once, and what is
// kept of the rest is bounded.
func TestTextsAreWrittenOnce(t *testing.T) {
	t.Parallel()
	w := newWriter()
	count := &counted{Markdown: w.markdown}
	w.markdown = count
	const text = "It is *down*, see [there](https://example.com/)."
	html, plain := w.write(text)
	if want := `<p>It is <em>down</em>, see <a href="https://example.com/" rel="nofollow noreferrer">there</a>.</p>`; strings.TrimSpace(string(html)) != want || plain != "It is down, see there." {
		t.Errorf("%s, %s", html, plain)
	}
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			for range 100 {
				if again, same := w.write(text); again != html || same != plain {
					t.Errorf("then %s, %s", again, same)
				}
			}
		})
	}
	readers.Wait()
	if n := count.n.Load(); n != 1 {
		t.Errorf("written %d times", n)
	}
	if w.most != writtenBytes {
		t.Errorf("a generation holds %d bytes, want %d", w.most, writtenBytes)
	}
	w.most = 256 << 10
	const others = 120 // two generations of them, and more
	long := strings.Repeat("word ", 400)
	for i := range others {
		w.write(fmt.Sprint(i, " ", long))
		w.write(text)
	}
	if n := count.n.Load(); n != 1+others {
		t.Errorf("written %d times with %d others", n, others)
	}
	held := 0
	for _, generation := range []map[string]inked{w.newer, w.older} {
		for text, one := range generation {
			held += len(text) + len(one.html) + len(one.plain)
		}
	}
	if held < w.most || held > 2*w.most {
		t.Errorf("%d bytes are kept, want at most %d", held, 2*w.most)
	}
}
