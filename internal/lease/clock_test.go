package lease

import (
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/testbackend"
)

// When the server's clock goes back, a key outlives its time: it must not keep
// everybody from working.
func TestLeaseOfAnotherTimeIsFree(t *testing.T) {
	t.Parallel()
	r, err := checkstream.Open(testbackend.Redis(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	gone, heir := newRedisStore(r, "job", "gone"), newRedisStore(r, "job", "heir")
	if mine, err := gone.take(t.Context()); err != nil || !mine {
		t.Fatal(mine, err)
	}
	if mine, err := heir.take(t.Context()); err != nil || mine {
		t.Fatal("taken from its holder", err)
	}
	if err := r.Commands().PExpire(t.Context(), keyOf("job"), time.Hour).Err(); err != nil { // as after a step back
		t.Fatal(err)
	}
	if mine, err := heir.take(t.Context()); err != nil || !mine {
		t.Error("an hour is waited for", err)
	}
}
