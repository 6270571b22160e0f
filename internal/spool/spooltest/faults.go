package spooltest

import "errors"

// Op is a call that can be made to fail.
type Op string

// The calls. OpRename is named by its first path.
const (
	OpMkdir   Op = "mkdir"
	OpLock    Op = "lock"
	OpList    Op = "list"
	OpCreate  Op = "create"
	OpWrite   Op = "write"
	OpSync    Op = "sync"
	OpClose   Op = "close"
	OpRename  Op = "rename"
	OpRemove  Op = "remove"
	OpRead    Op = "read"
	OpSyncDir Op = "syncdir"
)

var errShort = errors.New("short write")

type faults struct {
	rules    map[Op][]rule
	counts   map[Op]int
	ignored  map[Op]bool
	calls    int
	cut      int // the call after which there is no power; 0: never
	capacity int64
	volatile string
	observe  func(op Op, path string)
}

type rule struct {
	at  int // the call's number; 0: every call
	err error
}

// Fail makes the nth call of op from now on answer err without doing anything; n = 0:
// every call, until Heal. What a failed Sync or SyncDir should have made durable is lost.
func (f *FS) Fail(op Op, n int, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n > 0 {
		n += f.counts[op]
	}
	f.rules[op] = append(f.rules[op], rule{at: n, err: err})
}

// ShortWrite makes the nth write from now on write half of it and answer no error.
func (f *FS) ShortWrite(n int) { f.Fail(OpWrite, n, errShort) }

// Heal takes back every Fail, ShortWrite, Ignore and CutAfter.
func (f *FS) Heal() {
	f.mu.Lock()
	defer f.mu.Unlock()
	clear(f.rules)
	f.ignored, f.cut = nil, 0
}

// Ignore makes OpSync or OpSyncDir answer OK and do nothing: what a program that
// forgot the call would get.
func (f *FS) Ignore(op Op) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ignored == nil {
		f.ignored = map[Op]bool{}
	}
	f.ignored[op] = true
}

// SetCapacity gives the disk a size in bytes, 0 for none: writing more answers
// ENOSPC after as many whole blocks as fit.
func (f *FS) SetCapacity(bytes int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.capacity = bytes
}

// SetVolatile says what Volatile answers.
func (f *FS) SetVolatile(kind string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.volatile = kind
}

// CutAfter lets n more calls work; then everything answers ErrPowerCut until Crash.
func (f *FS) CutAfter(n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut = f.calls + n + 1
}

// Observe is told every call before it is made, in order. It must not use the FS.
func (f *FS) Observe(each func(op Op, path string)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.observe = each
}

// Calls counts the calls made so far.
func (f *FS) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// call counts a call and says whether it fails.
func (f *faults) call(op Op, path string) error {
	f.calls++
	f.counts[op]++
	if f.cut > 0 && f.calls >= f.cut {
		return ErrPowerCut
	}
	if f.observe != nil {
		f.observe(op, path)
	}
	for _, r := range f.rules[op] {
		if r.at == 0 || r.at == f.counts[op] {
			if errors.Is(r.err, errShort) {
				return errShort
			}
			return fail(op, path, r.err)
		}
	}
	return nil
}
