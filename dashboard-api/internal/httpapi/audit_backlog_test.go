package httpapi

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database"
)

// fakeAudit notes entries, or fails: for all, or for those with an action.
type fakeAudit struct {
	mu      sync.Mutex
	down    bool
	refused string
	written []accountstore.AuditEntry
	calls   int
}

func (f *fakeAudit) Audit(_ context.Context, e accountstore.AuditEntry) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls++
	switch {
	case f.down:
		return fmt.Errorf("write: %w", database.ErrUnavailable)
	case e.Action == f.refused:
		return errors.New("refused")
	}
	f.written = append(f.written, e)
	return nil
}

func (f *fakeAudit) AuditAll(ctx context.Context, entries []accountstore.AuditEntry) error {
	for _, e := range entries {
		if err := f.Audit(ctx, e); err != nil {
			return err
		}
	}
	return nil
}

func (f *fakeAudit) AuditLog(context.Context, accountstore.AuditQuery) ([]accountstore.AuditEntry, error) {
	return nil, nil
}

func (f *fakeAudit) set(down bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.down = down
}

// backlog is one before a fake, running until the test ends or stop is called.
func backlog(t *testing.T) (b *AuditBacklog, store *fakeAudit, trouble func() string, stop func()) {
	t.Helper()
	store = &fakeAudit{}
	var mu sync.Mutex
	var said string
	b = NewAuditBacklog(store, func(trouble string) {
		mu.Lock()
		defer mu.Unlock()
		said = trouble
	}, prometheus.NewRegistry(), discard())
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = b.Run(ctx)
	}()
	stop = func() {
		cancel()
		<-ended
	}
	t.Cleanup(stop)
	return b, store, func() string {
		mu.Lock()
		defer mu.Unlock()
		return said
	}, stop
}

func audited(b *AuditBacklog, actions ...string) {
	for _, action := range actions {
		_ = b.Audit(context.Background(), accountstore.AuditEntry{Actor: "user:1", Action: action})
	}
}

// What the database does not take is written once it does, in order, as of when it happened;
// whoever asks hears meanwhile that it is not.
func TestAuditEntriesWaitForTheDatabase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, store, trouble, stop := backlog(t)
		store.set(true)
		began := time.Now()
		audited(b, "one", "two")
		if err := b.AuditAll(t.Context(), []accountstore.AuditEntry{{Action: "three"}, {Action: "four"}}); err != nil {
			t.Fatal(err)
		}
		if got := trouble(); !strings.HasPrefix(got, "4 entries wait to be written: ") || testutil.ToFloat64(b.waits) != 4 {
			t.Errorf("%q", got)
		}
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		if store.calls > 3+20 {
			t.Errorf("%d tries in ten minutes", store.calls)
		}
		store.set(false)
		time.Sleep(auditPause)
		synctest.Wait()
		var actions []string
		for _, e := range store.written {
			actions = append(actions, e.Action)
			if !e.At.Equal(began) {
				t.Errorf("%s is of %v after it happened", e.Action, e.At.Sub(began))
			}
		}
		if strings.Join(actions, " ") != "one two three four" || trouble() != "" || testutil.ToFloat64(b.waits) != 0 || testutil.ToFloat64(b.gone) != 0 {
			t.Errorf("%v, %q", actions, trouble())
		}
		stop()
	})
}

// One that is refused for good holds up no other; it is given up after a while, which is said.
func TestAuditEntriesThatAreNeverTaken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, store, trouble, stop := backlog(t)
		store.refused = "bad"
		store.set(true)
		audited(b, "bad", "good")
		store.set(false)
		time.Sleep(auditPause)
		synctest.Wait()
		if len(store.written) != 1 || store.written[0].Action != "good" || testutil.ToFloat64(b.waits) != 1 {
			t.Errorf("%+v", store.written)
		}
		time.Sleep(auditPatience + auditPause)
		synctest.Wait()
		if trouble() != "1 entries are in this program's log alone" || testutil.ToFloat64(b.gone) != 1 || testutil.ToFloat64(b.waits) != 0 {
			t.Errorf("%q", trouble())
		}
		stop()
	})
}

// Memory is bounded, and the end of the program is one more try.
func TestAuditEntriesAtTheEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b, store, _, stop := backlog(t)
		store.set(true)
		for range auditWaiting + 5 {
			audited(b, "x")
		}
		if testutil.ToFloat64(b.waits) != auditWaiting || testutil.ToFloat64(b.gone) != 5 {
			t.Errorf("%v wait, %v are lost", testutil.ToFloat64(b.waits), testutil.ToFloat64(b.gone))
		}
		store.set(false)
		stop()
		if len(store.written) != auditWaiting {
			t.Errorf("%d were written at the end", len(store.written))
		}
	})
}
