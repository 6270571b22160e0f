package cycle

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/service"
)

const (
	noteEvery = 5 * time.Second
	noteBatch = 1_000
	notesMost = 20_000 // five hours of an absent results store
)

// notebook writes the cycles in batches. They are audit: when the store is away
// for long the oldest are dropped, and counted.
type notebook struct {
	store   Notes
	health  Health
	log     *slog.Logger
	metrics *metrics

	mu      sync.Mutex
	waiting []resultstore.Cycle
	sealed  []resultstore.Cycle // the batch being written: kept with its token until it is
	token   string
	failing bool
}

func newNotebook(store Notes, health Health, log *slog.Logger, m *metrics) *notebook {
	return &notebook{store: store, health: health, log: log, metrics: m}
}

func (n *notebook) add(c resultstore.Cycle) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiting) >= notesMost {
		n.waiting = n.waiting[1:]
		n.metrics.notesDropped.Inc()
	}
	n.waiting = append(n.waiting, c)
}

func (n *notebook) run(ctx context.Context) error {
	ticker := time.NewTicker(noteEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			last, cancel := finish(ctx, databaseTimeout)
			defer cancel()
			n.flush(last)
			return nil
		case <-ticker.C:
			n.flush(ctx)
		}
	}
}

// flush writes all that waits, stopping at the first failure.
func (n *notebook) flush(ctx context.Context) {
	for n.seal() {
		limited, cancel := context.WithTimeout(ctx, databaseTimeout)
		err := n.store.InsertCycles(limited, n.token, n.sealed)
		cancel()
		if failing := err != nil; failing != n.failing {
			n.failing = failing
			n.log.Info("writing cycles changed", "failing", failing, "error", err)
		}
		if err != nil {
			n.health.Set("results", service.Degraded, "cycles cannot be written: "+err.Error())
			return
		}
		n.health.Set("results", service.OK, "")
		n.sealed = nil
	}
}

// seal makes the next batch, unless one is still unwritten. Only flush calls it.
func (n *notebook) seal() bool {
	if len(n.sealed) > 0 {
		return true
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.waiting) == 0 {
		return false
	}
	size := min(len(n.waiting), noteBatch)
	n.sealed = append([]resultstore.Cycle(nil), n.waiting[:size]...)
	n.waiting = append([]resultstore.Cycle(nil), n.waiting[size:]...)
	n.token = uuid.Must(uuid.NewV7()).String()
	return true
}
