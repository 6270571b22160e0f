package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

const (
	maxExportLine = 1 << 20
	partialSuffix = ".partial"
)

var (
	errDisk = errors.New("write the file")
	errCut  = errors.New("the answer ended early")

	errOther = errors.New("was left by another export")

	// errChanged makes what arrived worthless.
	errChanged = errors.New("the answer was changed on its way")
)

// place is where a row stands among the others.
type place struct {
	at     time.Time
	region string
}

// exportFile is the file of an export. While it grows it ends with a whole row.
type exportFile struct {
	name, format string
	file         *os.File
	out          *bufio.Writer
	sum          hash.Hash // of all lines
	rows, bytes  int64
	last         place  // of the last row
	target       int64  // that the rows are of
	figures      bool   // the rows are hours or days, not results
	line         []byte // the last row, as long as nobody has asked for its place
}

// openExport begins a file, or goes on with what is there of it.
func openExport(name, format string, resume bool) (*exportFile, error) {
	f := &exportFile{name: name, format: format, sum: sha256.New()}
	flags := os.O_RDWR | os.O_CREATE
	if !resume {
		flags |= os.O_TRUNC
	}
	var err error
	if f.file, err = os.OpenFile(f.path(), flags, 0o600); err != nil {
		return nil, fmt.Errorf("open the file: %w", err)
	}
	f.out = bufio.NewWriterSize(f.file, 256<<10)
	if err := f.recover(); err != nil {
		f.close()
		return nil, fmt.Errorf("go on with %s: %w", f.path(), err)
	}
	return f, nil
}

func (f *exportFile) path() string { return f.name + partialSuffix }

// recover takes in what an earlier export left, and cuts off a row that it did not end.
func (f *exportFile) recover() error {
	err := eachLine(f.file, func(line []byte) error {
		if f.isEnd(line) {
			return errors.New("it is whole already: rename it")
		}
		f.note(line)
		return nil
	})
	if err != nil {
		return err
	}
	if err := f.file.Truncate(f.bytes); err != nil {
		return err
	}
	if _, err := f.file.Seek(f.bytes, io.SeekStart); err != nil {
		return err
	}
	return f.locate()
}

// take writes the rows of an answer, and says whether the answer was whole.
func (f *exportFile) take(answer io.Reader, progress *exportProgress) error {
	part, rows, ended := sha256.New(), int64(0), false
	err := eachLine(answer, func(line []byte) error {
		if f.isEnd(line) {
			ended = true
			return f.verify(line, rows, hex.EncodeToString(part.Sum(nil)))
		}
		_, _ = part.Write(line)
		if f.isHead(line) && f.bytes > 0 {
			return nil // each answer has one, a file needs only the first
		}
		if _, err := f.out.Write(line); err != nil {
			return errors.Join(errDisk, err)
		}
		if f.note(line) {
			rows++
		}
		return progress.look(f)
	})
	if flushed := f.out.Flush(); flushed != nil {
		return errors.Join(errDisk, flushed)
	}
	if located := f.locate(); located != nil {
		return located
	}
	if err == nil && !ended {
		err = errCut
	}
	return err
}

// note counts a line, and says whether it is a row.
func (f *exportFile) note(line []byte) bool {
	_, _ = f.sum.Write(line)
	f.bytes += int64(len(line))
	if f.isHead(line) {
		f.figures = bytes.HasPrefix(line, []byte("target_id,region,bucket"))
		return false
	}
	f.rows++
	f.line = append(f.line[:0], line...)
	return true
}

func (f *exportFile) isHead(line []byte) bool {
	return f.format == "csv" && bytes.HasPrefix(line, []byte("target_id,"))
}

func (f *exportFile) isEnd(line []byte) bool {
	return bytes.HasPrefix(line, []byte(`{"complete":`)) || bytes.HasPrefix(line, []byte("# complete "))
}

// exportEnd is what the last line of an export says.
type exportEnd struct {
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"`
}

// verify compares an answer with what its last line says of it.
func (f *exportFile) verify(line []byte, rows int64, sum string) error {
	var end struct {
		Complete exportEnd `json:"complete"`
	}
	err := json.Unmarshal(line, &end)
	if f.format == "csv" {
		_, err = fmt.Sscanf(string(line), "# complete rows=%d sha256=%s", &end.Complete.Rows, &end.Complete.SHA256)
	}
	if err != nil || end.Complete != (exportEnd{rows, sum}) {
		return fmt.Errorf("%w: it has %d rows with sha256 %s, and says %s", errChanged, rows, sum, plain(string(bytes.TrimSpace(line))))
	}
	return nil
}

// locate reads the place of the last row.
func (f *exportFile) locate() error {
	if len(f.line) == 0 {
		return nil
	}
	var instant string
	if f.format == "csv" {
		fields, err := csv.NewReader(bytes.NewReader(f.line)).Read()
		if err != nil || len(fields) < 3 {
			return fmt.Errorf("%.200q is no row of an export", f.line)
		}
		f.target, _ = strconv.ParseInt(fields[0], 10, 64) // 0 is nobody's number
		f.last.region, instant = fields[1], fields[2]
	} else {
		var row struct {
			TargetID    int64  `json:"target_id"`
			Region      string `json:"region"`
			ScheduledAt string `json:"scheduled_at"`
			Bucket      string `json:"bucket"`
		}
		if err := json.Unmarshal(f.line, &row); err != nil {
			return fmt.Errorf("%.200q is no row of an export", f.line)
		}
		f.target, f.figures = row.TargetID, row.Bucket != ""
		f.last.region, instant = row.Region, row.ScheduledAt+row.Bucket
	}
	at, err := time.Parse(time.RFC3339, instant)
	if err != nil {
		return fmt.Errorf("%.200q is no row of an export", f.line)
	}
	f.last.at, f.line = at, f.line[:0]
	return nil
}

// finish ends a whole file with a line that says so, and gives it its name.
func (f *exportFile) finish() error {
	end := exportEnd{f.rows, hex.EncodeToString(f.sum.Sum(nil))}
	line, err := json.Marshal(map[string]exportEnd{"complete": end})
	if f.format == "csv" {
		line = fmt.Appendf(nil, "# complete rows=%d sha256=%s", end.Rows, end.SHA256)
	}
	if err != nil {
		return err
	}
	if _, err := f.file.Write(append(line, '\n')); err != nil {
		return errors.Join(errDisk, err)
	}
	f.bytes += int64(len(line)) + 1
	if err := f.file.Sync(); err != nil {
		return errors.Join(errDisk, err)
	}
	if err := os.Rename(f.path(), f.name); err != nil {
		return fmt.Errorf("rename the file: %w", err)
	}
	if dir, err := os.Open(filepath.Dir(f.name)); err == nil { // so that the name survives a power cut, where folders can be synced
		_ = dir.Sync()
		_ = dir.Close()
	}
	return nil
}

// discard removes what is there of a file.
func (f *exportFile) discard() {
	f.rows = 0
	_ = os.Remove(f.path())
}

func (f *exportFile) close() { _ = f.file.Close() }

// eachLine hands over the lines that are whole. An end within a line is no error of its own.
func eachLine(r io.Reader, fn func(line []byte) error) error {
	scanner := bufio.NewScanner(r)
	scanner.Buffer(make([]byte, 64<<10), maxExportLine)
	scanner.Split(func(data []byte, atEOF bool) (int, []byte, error) {
		if i := bytes.IndexByte(data, '\n'); i >= 0 {
			return i + 1, data[:i+1], nil
		}
		if atEOF {
			return len(data), nil, nil
		}
		return 0, nil, nil
	})
	for scanner.Scan() {
		if err := fn(scanner.Bytes()); err != nil {
			return err
		}
	}
	return scanner.Err()
}
