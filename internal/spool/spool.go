package spool

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

const (
	lockName       = "lock"
	corruptName    = "corrupt"
	defaultMax     = 500 << 20
	fullRemembered = time.Minute
)

// Options are what a Spool needs.
type Options struct {
	Dir      string
	MaxBytes int64 // 0: 500 MiB
	Volatile bool  // allow a folder that does not survive a restart
	ByRegion bool  // count rows by region, too: then Open reads every file
	FS       FS    // nil: the machine's
	Log      *slog.Logger
	Metrics  prometheus.Registerer
}

// Spool is an open folder of batches.
type Spool struct {
	dir     string
	max     int64
	fs      FS
	log     *slog.Logger
	metrics *metrics
	lock    io.Closer
	wake    chan struct{}

	appending sync.Mutex // one Append at a time; held while the disk works
	next      uint64
	encoder   encoder
	broken    error // why nothing can be appended any more

	mu      sync.Mutex // never held while the disk works
	waiting index
	tally   tally // nil: rows are not counted by region
	lying   int   // files in DIR/corrupt when it was opened
	moved   int   // moved there since
	closed  bool
	refused time.Time // last ErrFull that nothing has healed since
}

// Open makes the folder if need be, locks it, removes half-written files and takes
// up what waits. It lists names and reads no contents (but see ByRegion): a full spool
// takes well under 2 s. Errors: ErrLocked (wait for it), *VolatileError, *IOError (the disk is
// ill or has no room: starting again later may help), else the folder cannot be used.
func Open(o Options) (*Spool, error) {
	s := &Spool{dir: filepath.Clean(o.Dir), max: o.MaxBytes, fs: o.FS, log: o.Log, wake: make(chan struct{}, 1)}
	if s.fs == nil {
		s.fs = newOSFS()
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.max <= 0 {
		s.max = defaultMax
	}
	if err := s.open(o.Volatile); err != nil {
		if ill(err) {
			err = &IOError{Op: "open", Path: s.dir, Err: err}
		}
		return nil, fmt.Errorf("open spool %s: %w", s.dir, err)
	}
	if o.ByRegion {
		s.count()
	}
	s.metrics = newMetrics(o.Metrics, s)
	return s, nil
}

func (s *Spool) open(volatile bool) error {
	if !volatile {
		kind, err := s.fs.Volatile(s.dir)
		if err != nil {
			return err
		}
		if kind != "" {
			return &VolatileError{Dir: s.dir, Kind: kind}
		}
	}
	if err := s.mkdir(s.dir); err != nil {
		return err
	}
	path := filepath.Join(s.dir, lockName)
	lock, err := s.fs.Lock(path)
	if errors.Is(err, syscall.EROFS) { // the folder is there, so it was writable once: the kernel has given up on this disk
		return &IOError{Op: "lock", Path: path, Err: err}
	}
	if err != nil {
		return err
	}
	s.lock = lock
	if err := errors.Join(s.mkdir(filepath.Join(s.dir, corruptName)), s.settle(), s.scan()); err != nil {
		_ = lock.Close()
		return err
	}
	return nil
}

// mkdir makes a folder, and those above it, that survive a power cut.
func (s *Spool) mkdir(dir string) error {
	err := s.fs.Mkdir(dir)
	parent := filepath.Dir(dir)
	if errors.Is(err, fs.ErrNotExist) && parent != dir {
		if err := s.mkdir(parent); err != nil {
			return err
		}
		err = s.fs.Mkdir(dir)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.fs.SyncDir(parent)
}

// settle makes the folders durable that were there already: a start that was killed may
// have made them, and not come to say so to the disk. Those above that are not ours to
// open were not made by it.
func (s *Spool) settle() error {
	err := s.fs.SyncDir(s.dir)
	for dir := s.dir; err == nil && dir != filepath.Dir(dir); {
		dir = filepath.Dir(dir)
		if above := s.fs.SyncDir(dir); ill(above) {
			err = above
		}
	}
	return err
}

func (s *Spool) scan() error {
	var found []entry
	var halves, strange []string
	err := s.fs.List(s.dir, func(name string, size int64, modified time.Time) {
		switch {
		case strings.HasSuffix(name, tempSuffix):
			halves = append(halves, name)
		case strings.HasSuffix(name, batchSuffix):
			e, ok := parseName(name)
			if !ok {
				strange = append(strange, name)
				return
			}
			e.blocks, e.spooled = blocks(size), modified.UnixMilli()
			found = append(found, e)
			s.next = max(s.next, e.seq)
		}
	})
	if err != nil {
		return err
	}
	err = s.fs.List(filepath.Join(s.dir, corruptName), func(name string, _ int64, _ time.Time) {
		s.lying++
		if e, ok := parseName(name); ok {
			s.next = max(s.next, e.seq)
		}
	})
	if err != nil {
		return err
	}
	s.next++
	for _, name := range halves {
		if err := s.fs.Remove(filepath.Join(s.dir, name)); err != nil {
			return err
		}
	}
	for _, name := range strange {
		if err := s.quarantine(name, errors.New("its name says nothing")); err != nil {
			return err
		}
	}
	s.waiting = newIndex(found)
	if len(found) > 0 {
		s.signal()
	}
	if len(found)+len(halves) > 0 {
		s.log.Info("spool taken up", "batches", len(found), "rows", s.waiting.rows, "bytes", s.waiting.bytes, "half_written", len(halves))
	}
	return nil
}

// Close lets another process open the folder. What waits stays.
func (s *Spool) Close() error {
	s.appending.Lock()
	defer s.appending.Unlock()
	s.mu.Lock()
	again := s.closed
	s.closed = true
	s.mu.Unlock()
	if again {
		return nil
	}
	s.broken = errClosed
	return s.lock.Close()
}

func (s *Spool) signal() {
	select {
	case s.wake <- struct{}{}:
	default:
	}
}
