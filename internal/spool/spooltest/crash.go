package spooltest

import (
	"bytes"
	"io/fs"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
)

// Crash cuts the power: only what was made durable is left, locks are free, and
// handles from before are dead.
func (f *FS) Crash() { f.crash(func() bool { return false }, nil) }

// CrashKeeping cuts the power in the way of a kinder disk: each change of an entry
// that was not made durable may have survived, in any combination, and so may a part
// of a file's content, or zeros in its place.
func (f *FS) CrashKeeping(rng *rand.Rand) { f.crash(func() bool { return rng.IntN(2) == 0 }, rng) }

// Kill ends the process only: locks are free, handles dead, nothing is lost.
func (f *FS) Kill() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.die()
}

func (f *FS) crash(keep func() bool, rng *rand.Rand) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.changes {
		if keep() {
			f.settle(c)
		}
	}
	f.changes = nil
	for _, path := range slices.Sorted(maps.Keys(f.folders)) { // parents first
		if parent := f.folders[filepath.Dir(path)]; parent == nil || !f.folders[path].survives {
			delete(f.folders, path)
		}
	}
	f.used = 0
	for _, path := range slices.Sorted(maps.Keys(f.folders)) {
		d := f.folders[path]
		d.now = maps.Clone(d.durable)
		for _, name := range slices.Sorted(maps.Keys(d.now)) {
			n := d.now[name]
			if !bytes.Equal(n.data, n.durable) {
				n.data = remains(n, rng)
				n.durable = slices.Clone(n.data)
			}
			f.used += whole(len(n.data))
		}
	}
	f.die()
}

// remains is what a power cut leaves of content that was not made durable.
func remains(n *node, rng *rand.Rand) []byte {
	if rng == nil {
		return slices.Clone(n.durable)
	}
	left := slices.Clone(n.data)
	switch cut := rng.IntN(len(left) + 1); rng.IntN(4) {
	case 0:
		return slices.Clone(n.durable)
	case 1:
		return left[:cut]
	case 2:
		clear(left[cut:])
	}
	return left
}

func (f *FS) die() {
	f.life++
	f.cut = 0
	clear(f.locked)
}

// Put writes a file, durably, as if it had always been there.
func (f *FS) Put(path string, content []byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if old := f.node(path); old != nil {
		f.used -= whole(len(old.data))
	}
	d := f.folders[filepath.Dir(path)]
	n := &node{data: slices.Clone(content), durable: slices.Clone(content)}
	d.now[filepath.Base(path)], d.durable[filepath.Base(path)] = n, n
	f.used += whole(len(content))
}

// Content gives what a program sees in a file.
func (f *FS) Content(path string) ([]byte, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := f.node(path)
	if n == nil {
		return nil, fail(OpRead, path, fs.ErrNotExist)
	}
	return slices.Clone(n.data), nil
}

// Names lists a folder, in order; nil when there is none.
func (f *FS) Names(dir string) []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	d := f.folders[filepath.Clean(dir)]
	if d == nil {
		return nil
	}
	return slices.Sorted(maps.Keys(d.now))
}

// RemoveDir takes a folder away with all that is in it, as an operator would.
func (f *FS) RemoveDir(dir string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, n := range f.folders[dir].now {
		f.used -= whole(len(n.data))
	}
	delete(f.folders, dir)
	f.changes = slices.DeleteFunc(f.changes, func(c *change) bool {
		return slices.ContainsFunc(c.sets, func(s set) bool { return s.dir == dir })
	})
}
