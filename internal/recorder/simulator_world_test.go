package recorder

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/spool/spooltest"
)

// mode is how the store behaves.
type mode int

const (
	fine mode = iota
	down
	forgetting // does the work, loses the answer
	flaky      // half of the calls fail, half of those after the work
	slow
	hanging
	modes
)

const (
	maxRows     = 4
	mostRows    = 3 * maxRows
	maxBuffered = 12
)

// bad says that the store refuses rows of a target.
func bad(target int64) bool { return target%11 == 0 }

// world is what outlives a process: the stream, the disk and the store.
type world struct {
	t        *testing.T
	seed     uint64
	rng      *rand.Rand // of the schedule
	fs       *spooltest.FS
	maxBytes int64
	lives    sync.WaitGroup

	mu      sync.Mutex
	luck    *rand.Rand // of the store and the pauses
	mode    mode
	tokens  map[string]bool
	stored  map[int64]map[int64]string // target, then rank of the row: its token
	targets int64
	pending []int64
	more    chan struct{}
	acked   map[int64]bool
	dead    map[int64]bool
	files   map[string][]int64
	lost    map[int64]bool // was in a file that was damaged
	damaged int
	made    time.Duration // rows so far, as ns that tell them apart
}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{
		t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), luck: rand.New(rand.NewPCG(seed, 2)),
		fs: spooltest.New(), tokens: map[string]bool{}, stored: map[int64]map[int64]string{}, more: make(chan struct{}, 1),
		acked: map[int64]bool{}, dead: map[int64]bool{}, files: map[string][]int64{}, lost: map[int64]bool{},
	}
	w.maxBytes = []int64{1 << 20, 12 << 10, 28 << 10}[w.rng.IntN(3)]
	return w
}

func (w *world) due(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for range n {
		w.targets++
		w.pending = append(w.pending, w.targets)
	}
	w.signal()
}

func (w *world) signal() {
	select {
	case w.more <- struct{}{}:
	default:
	}
}

func (w *world) weather(m mode) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.mode = m
}

// damage flips a bit of a file, for good, and says whether there was one.
func (w *world) damage() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	names := slices.DeleteFunc(w.fs.Names("/spool"), func(name string) bool { return w.files[name] == nil })
	if len(names) == 0 {
		return false
	}
	name := names[w.rng.IntN(len(names))]
	content, err := w.fs.Content("/spool/" + name)
	if err != nil || len(content) == 0 {
		return false
	}
	content[w.rng.IntN(len(content))] ^= 1 << w.rng.IntN(8)
	w.fs.Put("/spool/"+name, content)
	w.damaged++
	for _, target := range w.files[name] {
		w.lost[target] = true
	}
	return true
}

func (w *world) store(b resultstore.Batch) error {
	for _, row := range b.Rows {
		if bad(row.TargetID) {
			return fmt.Errorf("insert: %w", &resultstore.RowError{Problem: "bad"})
		}
	}
	if w.tokens[b.Token] {
		return nil
	}
	w.tokens[b.Token] = true
	for _, row := range b.Rows {
		if w.stored[row.TargetID] == nil {
			w.stored[row.TargetID] = map[int64]string{}
		}
		rank := row.IngestedAt.UnixNano()
		if was := w.stored[row.TargetID][rank]; was != "" {
			w.t.Errorf("seed %d: one row of target %d stored as %s and as %s", w.seed, row.TargetID, was, b.Token)
		}
		w.stored[row.TargetID][rank] = b.Token
	}
	return nil
}
