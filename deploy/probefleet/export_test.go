package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/service"
)

// exportAPI has rows a minute apart, and breaks off answers as told.
type exportAPI struct {
	*httptest.Server
	rows    int
	breaks  []int // answers that end after so many rows, in order
	clean   bool  // they end as if they were whole, as some proxies have it
	lies    bool  // about the sum
	status  int   // instead of an answer; 0: none
	asked   atomic.Int64
	queries []string
}

func startExportAPI(t *testing.T) *exportAPI {
	t.Helper()
	a := &exportAPI{rows: 100}
	a.Server = httptest.NewServer(http.HandlerFunc(a.serve))
	t.Cleanup(a.Close)
	return a
}

func firstRow() time.Time { return time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC) }

func (a *exportAPI) row(format string, n int) string {
	at := firstRow().Add(time.Duration(n) * time.Minute).Format("2006-01-02T15:04:05.000Z")
	if format == "csv" {
		return "7,eu," + at + ",up,\"a, b\"\n"
	}
	return fmt.Sprintf(`{"target_id":7,"region":"eu","scheduled_at":%q,"status":"up"}`+"\n", at)
}

func (a *exportAPI) whole(format string) string {
	var lines strings.Builder
	if format == "csv" {
		lines.WriteString("target_id,region,scheduled_at,status,message\n")
	}
	for n := range a.rows {
		lines.WriteString(a.row(format, n))
	}
	return lines.String() + exportSeal(format, a.rows, lines.String())
}

func exportSeal(format string, rows int, lines string) string {
	sum := sha256.Sum256([]byte(lines))
	if format == "csv" {
		return fmt.Sprintf("# complete rows=%d sha256=%s\n", rows, hex.EncodeToString(sum[:]))
	}
	return fmt.Sprintf(`{"complete":{"rows":%d,"sha256":%q}}`+"\n", rows, hex.EncodeToString(sum[:]))
}

func (a *exportAPI) serve(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/api/v1/targets" {
		_, _ = fmt.Fprint(w, `{"items":[{"id":6,"name":"shop two"},{"id":7,"name":"shop"}]}`)
		return
	}
	n := int(a.asked.Add(1)) - 1
	a.queries = append(a.queries, r.URL.RawQuery)
	if a.status != 0 || r.URL.Path != "/api/v1/targets/7/export" || r.Header.Get("Authorization") != "Bearer k" {
		w.WriteHeader(max(a.status, http.StatusNotFound))
		_, _ = fmt.Fprint(w, `{"detail":"there is no such target"}`)
		return
	}
	format, first := r.URL.Query().Get("format"), 0
	if after, region, _ := strings.Cut(r.URL.Query().Get("after"), ","); region == "eu" {
		at, _ := time.Parse(time.RFC3339, after)
		first = int(at.Sub(firstRow())/time.Minute) + 1
	}
	lines := ""
	if format == "csv" {
		lines = "target_id,region,scheduled_at,status,message\n"
	}
	for i := first; i < a.rows; i++ {
		if n < len(a.breaks) && i-first == a.breaks[n] {
			_, _ = fmt.Fprint(w, lines+a.row(format, i)[:20]) // in the middle of a row
			if a.clean {
				return
			}
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		}
		lines += a.row(format, i)
	}
	if a.lies {
		_, _ = fmt.Fprint(w, lines+exportSeal(format, a.rows-first, lines+"x"))
		return
	}
	_, _ = fmt.Fprint(w, lines+exportSeal(format, a.rows-first, lines))
}

// export runs the command, which waits for nothing.
func (a *exportAPI) export(ctx context.Context, t *testing.T, c historyExport) (said, progress string, err error) {
	t.Helper()
	c.API, c.Key, c.Kind = a.URL, "k", "raw"
	if c.Format == "" {
		c.Format = "ndjson"
	}
	var out, errOut bytes.Buffer
	err = c.run(ctx, console{&out, &errOut}, 0)
	return out.String(), errOut.String(), err
}

func content(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestExportIsWhole(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		target, format string
		breaks         []int
		asked          int64
	}{
		"broken off cleanly":    {"7", "csv", []int{30, 20}, 3},
		"by number":             {"7", "ndjson", nil, 1},
		"by name":               {"shop", "csv", nil, 1},
		"broken off twice":      {"7", "ndjson", []int{30, 20}, 3},
		"csv, broken off twice": {"7", "csv", []int{30, 20}, 3},
		"broken off at once":    {"7", "csv", []int{0, 0, 0, 1}, 5},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a, path := startExportAPI(t), filepath.Join(t.TempDir(), "out")
			a.breaks, a.clean = c.breaks, name == "broken off cleanly"
			said, progress, err := a.export(t.Context(), t, historyExport{Target: c.target, Format: c.format, Out: path})
			if err != nil || said != fmt.Sprintf("%s: 100 rows, %s\n", path, megabytes(int64(len(a.whole(c.format))))) || strings.Count(progress, "going on") != len(c.breaks) {
				t.Errorf("%q, %q, %v", said, progress, err)
			}
			if got := content(t, path); got != a.whole(c.format) {
				t.Errorf("%d bytes, want %d:\n%s", len(got), len(a.whole(c.format)), got)
			}
			if _, err := os.Stat(path + partialSuffix); err == nil || a.asked.Load() != c.asked {
				t.Errorf("a partial file is left, or %d questions", a.asked.Load())
			}
		})
	}
}

// What breaks off for good leaves no file of that name, and is gone on with.
func TestExportIsGoneOnWith(t *testing.T) {
	t.Parallel()
	for _, format := range []string{"ndjson", "csv"} {
		a, path := startExportAPI(t), filepath.Join(t.TempDir(), "out")
		a.breaks = append([]int{30}, make([]int, exportTries)...)
		_, progress, err := a.export(t.Context(), t, historyExport{Target: "7", Format: format, Out: path})
		if err == nil || service.Code(err) != service.ExitDependency || !strings.Contains(progress, "30 rows are in "+path+".partial: go on with the same command and --resume") {
			t.Fatalf("%q, %v", progress, err)
		}
		if _, err := os.Stat(path); err == nil {
			t.Fatal("a part has the name of the whole")
		}
		torn, err := os.OpenFile(path+partialSuffix, os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = torn.WriteString(a.row(format, 30)[:25]) // as a power cut leaves it
		_ = torn.Close()
		a.breaks = nil
		_, progress, err = a.export(t.Context(), t, historyExport{Target: "7", Format: format, Out: path, Resume: true})
		if got := content(t, path); err != nil || got != a.whole(format) || !strings.HasPrefix(progress, "going on after 2026-03-01T00:29:00Z, 30 rows are there\n") {
			t.Errorf("%v, %q\n%s", err, progress, got)
		}
		if _, _, err := a.export(t.Context(), t, historyExport{Target: "7", Format: format, Out: path, From: "2026-03-01"}); err != nil || content(t, path) != a.whole(format) {
			t.Error("a new one over an old one:", err)
		}
		if last := a.queries[len(a.queries)-1]; !strings.Contains(last, "from=2026-03-01T00%3A00%3A00Z") || !strings.Contains(last, "kind=raw") || strings.Contains(last, "after") {
			t.Error(last)
		}
	}
}

// What another export left is not gone on with.
func TestExportGoesOnWithItsOwnOnly(t *testing.T) {
	t.Parallel()
	for format, left := range map[string]string{
		"ndjson": `{"target_id":8,"region":"eu","scheduled_at":"2026-03-01T00:05:00.000Z"}`, "csv": "target_id,region,scheduled_at\n8,eu,2026-03-01T00:05:00.000Z",
	} {
		for what, left := range map[string]string{"target": left, "kind": strings.NewReplacer("scheduled_at", "bucket", "8,", "7,").Replace(left)} {
			a, path := startExportAPI(t), filepath.Join(t.TempDir(), "out")
			if err := os.WriteFile(path+partialSuffix, []byte(left+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
			_, _, err := a.export(t.Context(), t, historyExport{Target: "7", Format: format, Out: path, Resume: true})
			if err == nil || !strings.Contains(err.Error(), "another export") || content(t, path+partialSuffix) != left+"\n" || a.asked.Load() != 0 {
				t.Errorf("%s of another %s: %v", format, what, err)
			}
		}
	}
}

func TestExportsThatFail(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command historyExport
		change  func(*exportAPI)
		asked   int64
		says    string
	}{
		"the answer was changed": {historyExport{Target: "7"}, func(a *exportAPI) { a.lies = true }, 1, "changed on its way"},
		"there is none":          {historyExport{Target: "8"}, func(*exportAPI) {}, 1, "no such target"},
		"no such name":           {historyExport{Target: "sho"}, func(*exportAPI) {}, 0, `no target is called "sho"`},
		"it stays away":          {historyExport{Target: "7"}, func(a *exportAPI) { a.status = 503 }, exportTries, "no such target"},
		"no instant":             {historyExport{Target: "7", From: "yesterday"}, func(*exportAPI) {}, 0, "no instant"},
		"no range":               {historyExport{Target: "7", From: "2026-03-02", To: "2026-03-01"}, func(*exportAPI) {}, 0, "not before"},
		"nothing to go on with":  {historyExport{Target: "8", Resume: true}, func(*exportAPI) {}, 1, "no such target"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := startExportAPI(t)
			c.change(a)
			c.command.Out = filepath.Join(t.TempDir(), "out")
			_, _, err := a.export(t.Context(), t, c.command)
			if err == nil || !strings.Contains(err.Error(), c.says) || a.asked.Load() != c.asked {
				t.Errorf("%v after %d questions", err, a.asked.Load())
			}
			if _, err := os.Stat(c.command.Out); err == nil {
				t.Error("there is a file")
			}
		})
	}
}

// Ctrl-C ends it between two tries, and says how to go on.
func TestExportCanBeInterrupted(t *testing.T) {
	t.Parallel()
	a, path := startExportAPI(t), filepath.Join(t.TempDir(), "out")
	a.breaks = []int{10}
	ctx, cancel := context.WithCancel(t.Context())
	var out bytes.Buffer
	terminal := &calledOff{after: 1, stop: cancel}
	c := historyExport{Target: "7", Kind: "raw", Format: "csv", Out: path, apiFlags: apiFlags{API: a.URL, Key: "k"}}
	if err := c.run(ctx, console{&out, terminal}, time.Hour); err == nil || !strings.Contains(terminal.String(), "10 rows are in") {
		t.Errorf("%v %q", err, terminal.String())
	}
}

func TestExportTellsHowFarItIs(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	const rows = 200_000
	p := exportProgress{out: &out, to: firstRow().Add(2 * rows * time.Minute)}
	f, err := openExport(filepath.Join(t.TempDir(), "out"), "csv", false)
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	a := &exportAPI{}
	for n := range rows {
		f.note([]byte(a.row("csv", n)))
		if err := p.look(f); err != nil {
			t.Fatal(err)
		}
	}
	lines := strings.Split(out.String(), "\n")
	out.Reset()
	p = exportProgress{out: &out, from: firstRow().AddDate(-5, 0, 0), to: p.to}
	if err := p.look(f); err != nil || !strings.HasPrefix(out.String(), " 93%") {
		t.Errorf("of years: %q, %v", out.String(), err)
	}
	if len(lines) != 10 || lines[0] != "  7%  up to 2026-03-21T19:59:00Z  30000 rows  1.2 MB" || !strings.HasPrefix(lines[8], " 47%") {
		t.Errorf("%d lines: %q", len(lines), lines)
	}
}

// A connection that says nothing for a minute is given up; who takes long to write down what came is not.
func TestStalledAnswersEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		answer, server := io.Pipe()
		defer answer.Close()
		r := &alive{answer, time.AfterFunc(exportStall, func() { ended.Store(true) }), exportStall}
		go func() {
			time.Sleep(exportStall - 1)
			_, _ = server.Write([]byte("a"))
			time.Sleep(5 * exportStall)
			_, _ = server.Write([]byte("b"))
		}()
		_, _ = r.Read(make([]byte, 1))
		time.Sleep(4*exportStall + 1)
		go func() { _, _ = r.Read(make([]byte, 1)) }()
		time.Sleep(exportStall - 2)
		if synctest.Wait(); ended.Load() {
			t.Error("it was alive")
		}
		time.Sleep(2 * time.Nanosecond)
		if synctest.Wait(); ended.Load() {
			t.Error("it has just said something")
		}
		go func() { _, _ = r.Read(make([]byte, 1)) }()
		time.Sleep(exportStall)
		if synctest.Wait(); !ended.Load() {
			t.Error("it goes on for ever")
		}
	})
}
