package service

import (
	"io"
	"log/slog"
	"sync/atomic"
	"time"
)

const (
	logQueue = 2048                   // lines; with logBytes it bounds what a stopped reader costs
	logBytes = 2 << 20                // bytes waiting
	logFlush = 200 * time.Millisecond // how long an exit waits for the reader
)

// logWriter keeps whoever reads our output from stopping our work: lines wait in
// a bounded queue, and when the reader does not come they are dropped and counted.
// Write never blocks. Lines that are written are whole and in order.
type logWriter struct {
	out     io.Writer
	lines   chan logLine
	waiting atomic.Int64 // bytes
	dropped atomic.Int64
	log     atomic.Pointer[slog.Logger] // says how many were lost once the reader is back
}

type logLine struct {
	text    []byte
	written chan<- struct{} // closed once this line is out; may be nil
}

// newLogWriter starts the only goroutine that writes to out. It ends with finish,
// unless it is blocked in a write that nobody will ever take.
func newLogWriter(out io.Writer) *logWriter {
	w := &logWriter{out: out, lines: make(chan logLine, logQueue)}
	go w.pump()
	return w
}

// Write takes one line, or drops it. It never fails.
func (w *logWriter) Write(line []byte) (int, error) {
	if w.waiting.Add(int64(len(line))) > logBytes {
		w.drop(len(line))
		return len(line), nil
	}
	select {
	case w.lines <- logLine{text: append([]byte(nil), line...)}:
	default:
		w.drop(len(line))
	}
	return len(line), nil
}

func (w *logWriter) drop(size int) {
	w.waiting.Add(-int64(size))
	w.dropped.Add(1)
}

// finish writes a last line, which may be empty, behind all the others, and ends
// the writer. It gives the reader logFlush to take them and returns then in any case.
func (w *logWriter) finish(line string) {
	limit := time.NewTimer(logFlush)
	defer limit.Stop()
	written := make(chan struct{})
	w.waiting.Add(int64(len(line)))
	select {
	case w.lines <- logLine{[]byte(line), written}:
	case <-limit.C:
		return
	}
	select {
	case <-written:
	case <-limit.C:
	}
}

// hasRoom is true once the reader has caught up so far that a line will be taken.
func (w *logWriter) hasRoom() bool {
	return len(w.lines) < logQueue/2 && w.waiting.Load() < logBytes/2
}

func (w *logWriter) pump() {
	told := int64(0)
	for line := range w.lines {
		_, err := w.out.Write(line.text)
		w.waiting.Add(-int64(len(line.text)))
		if line.written != nil {
			close(line.written)
			return
		}
		if err != nil { // the reader is gone for good
			w.dropped.Add(1)
			continue
		}
		if lost, log := w.dropped.Load(), w.log.Load(); lost > told && log != nil && w.hasRoom() {
			log.Warn("log lines were dropped: nobody read them", "lines", lost-told)
			told = lost
		}
	}
}
