package embedded

import (
	"errors"
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// takeOver sends standard output and error to the log from now on.
func (l *engineLog) takeOver() error {
	for _, fd := range []int{1, 2} {
		if err := unix.Dup3(int(l.file.Fd()), fd, 0); err != nil {
			return fmt.Errorf("redirect engine output: %w", err)
		}
	}
	return l.file.Close()
}

// rotate starts a new file when the log is too long. On failure the engine
// writes on where it was, which is the better loss.
func (l *engineLog) rotate() {
	if fileSize(l.path) < l.max {
		return
	}
	if err := os.Rename(l.path, l.path+".1"); err != nil {
		return
	}
	if err := errors.Join(l.open(), l.takeOver()); err != nil {
		fmt.Fprintln(os.Stderr, "clickhouse: rotate log:", err)
	}
}
