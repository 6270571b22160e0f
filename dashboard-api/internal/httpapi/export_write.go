package httpapi

import (
	"bufio"
	"crypto/sha256"
	"encoding/csv"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"time"

	"github.com/klauspost/compress/gzip"

	"github.com/probefleet/probefleet/internal/resultstore"
)

// exportWriter writes rows as lines, and sends them page by page.
type exportWriter struct {
	control *http.ResponseController
	pack    *gzip.Writer // nil: not compressed
	lines   *bufio.Writer
	sum     hash.Hash // of the lines, not compressed
	json    *json.Encoder
	csv     *csv.Writer // nil: lines of JSON
	head    []string
	rows    int64
}

func exportOf(w http.ResponseWriter, in *exportInput) *exportWriter {
	e := &exportWriter{control: http.NewResponseController(w), sum: sha256.New(), lines: bufio.NewWriterSize(w, 64<<10)}
	if in.Format == "csv" {
		e.head = rawColumns()
		if in.Kind != kindRaw {
			e.head = bucketColumns()
		}
	}
	return e
}

// compress sends gzip.
func (e *exportWriter) compress(header http.Header) {
	header.Set("Content-Encoding", "gzip")
	e.pack, _ = gzip.NewWriterLevel(nil, gzip.BestSpeed) // a level there is
	e.pack.Reset(e.lines)
}

func (e *exportWriter) begin(header http.Header, in *exportInput, q resultstore.ExportQuery) {
	var out io.Writer = e.lines
	if e.pack != nil {
		out = e.pack
	}
	out = io.MultiWriter(out, e.sum)
	e.json = json.NewEncoder(out)
	e.json.SetEscapeHTML(false)
	media, name := "application/x-ndjson", "ndjson"
	if e.head != nil {
		media, name = mediaCSV+"; charset=utf-8", "csv"
		e.csv = csv.NewWriter(out)
	}
	header.Set("Content-Type", media)
	header.Set("Cache-Control", "no-store")
	header.Add("Vary", "Accept-Encoding")
	header.Set("Content-Disposition", fmt.Sprintf(`attachment; filename="probefleet-%d-%s-%s.%s"`, in.ID, in.Kind, q.To.UTC().Format("20060102T150405Z"), name))
}

// page writes rows and sends them.
func (e *exportWriter) page(rows []exportRow) error {
	if e.csv != nil && e.rows == 0 {
		if err := e.csv.Write(e.head); err != nil {
			return err
		}
	}
	for _, row := range rows {
		if err := e.row(row); err != nil {
			return err
		}
		e.rows++
	}
	if e.csv != nil {
		e.csv.Flush()
		if err := e.csv.Error(); err != nil {
			return err
		}
	}
	return e.flush()
}

func (e *exportWriter) row(row exportRow) error {
	if e.csv != nil {
		return e.csv.Write(row.record())
	}
	return e.json.Encode(row)
}

// exportEnd is the last line of an export that is whole.
type exportEnd struct {
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"` // of all lines before this one, as they were before any compression
}

// end writes the line that says that nothing is missing. In CSV it is a comment.
func (e *exportWriter) end() error {
	end := exportEnd{e.rows, hex.EncodeToString(e.sum.Sum(nil))}
	var err error
	if e.csv == nil {
		err = e.json.Encode(struct {
			Complete exportEnd `json:"complete"`
		}{end})
	} else {
		var out io.Writer = e.lines
		if e.pack != nil {
			out = e.pack
		}
		_, err = fmt.Fprintf(out, "# complete rows=%d sha256=%s\n", end.Rows, end.SHA256)
	}
	if err != nil {
		return err
	}
	if e.pack != nil {
		if err := e.pack.Close(); err != nil {
			return err
		}
	}
	return e.send()
}

func (e *exportWriter) flush() error {
	if e.pack != nil {
		if err := e.pack.Flush(); err != nil {
			return err
		}
	}
	return e.send()
}

// send hands what was written to the reader, who has to take it in time.
func (e *exportWriter) send() error {
	if err := e.control.SetWriteDeadline(time.Now().Add(pagePatience)); err != nil && !errors.Is(err, http.ErrNotSupported) {
		return err
	}
	if err := e.lines.Flush(); err != nil {
		return err
	}
	return e.control.Flush()
}
