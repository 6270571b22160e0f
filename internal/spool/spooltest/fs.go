package spooltest

import (
	"errors"
	"io"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/probefleet/probefleet/internal/spool"
)

var _ spool.FS = (*FS)(nil)

// ErrPowerCut is every call's answer between CutAfter's moment and Crash, and of
// every handle from before a Crash or Kill.
var ErrPowerCut = errors.New("no power")

const blockSize = 4096

// FS is the file system. The folders "/" and "." exist.
type FS struct {
	mu      sync.Mutex
	folders map[string]*folder
	locked  map[string]bool
	changes []*change // of entries, not durable yet, in order
	used    int64     // blocks of all files
	life    int       // of the process using it, from 1
	faults
	process // an FS used as a file system is never dead
}

// process is the file system as one process sees it.
type process struct {
	disk *FS
	life int // 0: always the current one
}

// Process gives the file system to one process: from the next Crash or Kill on it
// answers ErrPowerCut, so that a goroutine left over from before changes nothing.
func (f *FS) Process() spool.FS {
	f.mu.Lock()
	defer f.mu.Unlock()
	return process{disk: f, life: f.life}
}

func (p process) enter(op Op, path string) error {
	if p.life != 0 && p.life != p.disk.life {
		return ErrPowerCut
	}
	return p.disk.call(op, path)
}

type folder struct {
	now, durable map[string]*node
	survives     bool
}

type node struct {
	data, durable []byte
	modified      time.Time
}

// change is one atomic change of entries.
type change struct{ sets []set }

type set struct {
	dir, name string
	node      *node // nil: removed
}

// New gives an empty one.
func New() *FS {
	f := &FS{
		folders: map[string]*folder{}, locked: map[string]bool{}, life: 1,
		faults: faults{rules: map[Op][]rule{}, counts: map[Op]int{}},
	}
	f.process = process{disk: f}
	for _, root := range []string{"/", "."} {
		f.folders[root] = newFolder(true)
	}
	return f
}

func newFolder(survives bool) *folder {
	return &folder{now: map[string]*node{}, durable: map[string]*node{}, survives: survives}
}

// Volatile implements spool.FS: see SetVolatile.
func (p process) Volatile(string) (string, error) {
	f := p.disk
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.volatile, nil
}

// Mkdir implements spool.FS.
func (p process) Mkdir(dir string) error {
	f := p.disk
	f.mu.Lock()
	defer f.mu.Unlock()
	dir = filepath.Clean(dir)
	if err := p.enter(OpMkdir, dir); err != nil {
		return err
	}
	if f.folders[dir] != nil {
		return fail(OpMkdir, dir, fs.ErrExist)
	}
	if f.folders[filepath.Dir(dir)] == nil {
		return fail(OpMkdir, dir, fs.ErrNotExist)
	}
	f.folders[dir] = newFolder(false)
	return nil
}

// Lock implements spool.FS.
func (p process) Lock(path string) (io.Closer, error) {
	f := p.disk
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := p.enter(OpLock, path); err != nil {
		return nil, err
	}
	if f.locked[path] {
		return nil, spool.ErrLocked
	}
	f.locked[path] = true
	return &lock{fs: f, path: path, life: f.life}, nil
}

// List implements spool.FS, in the order of names.
func (p process) List(dir string, each func(string, int64, time.Time)) error {
	f := p.disk
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := p.enter(OpList, dir); err != nil {
		return err
	}
	d := f.folders[filepath.Clean(dir)]
	if d == nil {
		return fail(OpList, dir, fs.ErrNotExist)
	}
	for _, name := range slices.Sorted(maps.Keys(d.now)) {
		each(name, int64(len(d.now[name].data)), d.now[name].modified)
	}
	return nil
}

// Create implements spool.FS.
func (p process) Create(path string) (spool.File, error) {
	f := p.disk
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := p.enter(OpCreate, path); err != nil {
		return nil, err
	}
	d := f.folders[filepath.Dir(path)]
	if d == nil {
		return nil, fail(OpCreate, path, fs.ErrNotExist)
	}
	if d.now[filepath.Base(path)] != nil {
		return nil, fail(OpCreate, path, fs.ErrExist)
	}
	n := &node{modified: time.Now()}
	f.apply(set{filepath.Dir(path), filepath.Base(path), n})
	return &file{fs: f, node: n, path: path, life: f.life}, nil
}

// ReadFile implements spool.FS.
func (p process) ReadFile(path string, limit int64) ([]byte, error) {
	f := p.disk
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := p.enter(OpRead, path); err != nil {
		return nil, err
	}
	n := f.node(path)
	if n == nil {
		return nil, fail(OpRead, path, fs.ErrNotExist)
	}
	return slices.Clone(n.data[:min(int64(len(n.data)), limit)]), nil
}

// Rename implements spool.FS.
func (p process) Rename(from, to string) error {
	f := p.disk
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := p.enter(OpRename, from); err != nil {
		return err
	}
	n := f.node(from)
	if n == nil || f.folders[filepath.Dir(to)] == nil {
		return fail(OpRename, from, fs.ErrNotExist)
	}
	if old := f.node(to); old != nil && old != n {
		f.used -= whole(len(old.data))
	}
	f.apply(set{filepath.Dir(from), filepath.Base(from), nil}, set{filepath.Dir(to), filepath.Base(to), n})
	return nil
}

// Remove implements spool.FS.
func (p process) Remove(path string) error {
	f := p.disk
	f.mu.Lock()
	defer f.mu.Unlock()
	if err := p.enter(OpRemove, path); err != nil {
		return err
	}
	n := f.node(path)
	if n == nil {
		return fail(OpRemove, path, fs.ErrNotExist)
	}
	f.used -= whole(len(n.data))
	f.apply(set{filepath.Dir(path), filepath.Base(path), nil})
	return nil
}

// SyncDir implements spool.FS.
func (p process) SyncDir(dir string) error {
	f := p.disk
	f.mu.Lock()
	defer f.mu.Unlock()
	dir = filepath.Clean(dir)
	err := p.enter(OpSyncDir, dir)
	if err == nil && f.folders[dir] == nil {
		return fail(OpSyncDir, dir, fs.ErrNotExist)
	}
	if errors.Is(err, ErrPowerCut) || f.ignored[OpSyncDir] {
		return err
	}
	kept := f.changes[:0]
	for _, c := range f.changes {
		if !slices.ContainsFunc(c.sets, func(s set) bool { return s.dir == dir }) {
			kept = append(kept, c)
		} else if err == nil {
			f.settle(c)
		}
	}
	clear(f.changes[len(kept):])
	f.changes = kept
	for path, d := range f.folders {
		d.survives = d.survives || err == nil && filepath.Dir(path) == dir
	}
	return err
}

func (f *FS) node(path string) *node {
	if d := f.folders[filepath.Dir(path)]; d != nil {
		return d.now[filepath.Base(path)]
	}
	return nil
}

// apply changes what the program sees; a SyncDir, or luck, makes it durable.
func (f *FS) apply(sets ...set) {
	for _, s := range sets {
		put(f.folders[s.dir].now, s)
	}
	f.changes = append(f.changes, &change{sets: sets})
}

func (f *FS) settle(c *change) {
	for _, s := range c.sets {
		put(f.folders[s.dir].durable, s)
	}
}

func put(entries map[string]*node, s set) {
	if s.node == nil {
		delete(entries, s.name)
		return
	}
	entries[s.name] = s.node
}

func whole(size int) int64 { return int64(size+blockSize-1) / blockSize * blockSize }

func fail(op Op, path string, err error) error {
	return &fs.PathError{Op: string(op), Path: path, Err: err}
}
