package embedded

import (
	"fmt"
	"io"
	"os"
	"strings"
)

const (
	engineLogName = "clickhouse.log"
	engineLogMax  = 8 << 20 // and as much again in the file before it
)

// logTail returns what was appended to a log after offset, the end of it only.
func logTail(path string, offset int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return ""
	}
	if info.Size() < offset { // rotated since
		offset = 0
	}
	const most = 64 << 10
	offset = max(offset, info.Size()-most)
	text, err := io.ReadAll(io.NewSectionReader(f, offset, most))
	if err != nil {
		return ""
	}
	return string(text)
}

// errorLines picks the lines of an engine log that name an error.
func errorLines(text string) string {
	var found []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if strings.Contains(line, "Code: ") || strings.Contains(line, "Exception") {
			found = append(found, line)
		}
	}
	if len(found) == 0 {
		return lastLines(text, 3)
	}
	return found[len(found)-1]
}

func fileSize(path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return info.Size()
}

// engineLog is the file behind the engine's standard output and error. The
// child rotates it itself: the engine writes a stack trace for every client
// that misbehaves, and must neither fill the disk nor wait for a reader.
type engineLog struct {
	path string
	max  int64
	file *os.File
}

func openEngineLog(path string) (*engineLog, error) {
	l := &engineLog{path: path, max: engineLogMax}
	return l, l.open()
}

func (l *engineLog) open() error {
	f, err := os.OpenFile(l.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("open engine log: %w", err)
	}
	l.file = f
	return nil
}
