package probe

import (
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/lab"
	"github.com/probefleet/probefleet/internal/uptime"
)

var update = flag.Bool("update", false, "write the golden files anew: then read what changed")

// TestGolden visits everything the lab can do and compares what it came to, line by
// line, with testdata/*.golden: server, path, HTTP version, then status, failure or
// reason, HTTP status, protocol, and what people are told. Every visit keeps its time.
func TestGolden(t *testing.T) {
	t.Parallel()
	log.SetOutput(io.Discard) // net/http notes there what odd frames it was sent
	files, err := filepath.Glob("testdata/*.golden")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	for _, file := range files {
		if file == matrixFile {
			continue
		}
		t.Run(strings.TrimSuffix(filepath.Base(file), ".golden"), func(t *testing.T) {
			t.Parallel()
			golden(t, file)
		})
	}
}

func golden(t *testing.T, file string) {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	l := startLab(t)
	e := New(options(l))
	want := strings.Split(strings.TrimSpace(string(content)), "\n")
	got := make([]string, len(want))
	var visits sync.WaitGroup
	for i, line := range want {
		what, end, _ := strings.Cut(line, " | ")
		timeout := 20 * time.Second // a busy machine takes its part of it
		if strings.HasPrefix(end, "down timeout ") || strings.HasPrefix(end, "down connect_timeout ") {
			timeout = 2 * time.Second
		}
		visits.Go(func() { got[i] = what + " | " + visitOf(t, l, e, what, timeout) })
	}
	visits.Wait()
	if *update {
		if err := os.WriteFile(file, []byte(strings.Join(got, "\n")+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for i := range want {
		if !*update && got[i] != want[i] {
			t.Errorf("got  %s\nwant %s", got[i], want[i])
		}
	}
}

// visitOf makes the visit that a line asks for: server, path, version.
func visitOf(t *testing.T, l *lab.Lab, e *Engine, what string, timeout time.Duration) string {
	words := strings.Fields(what)
	addr, err := l.Addr(words[0])
	if err != nil {
		t.Error(words[0], err)
		return ""
	}
	scheme := "https://"
	if words[0] == "plain" {
		scheme = "http://"
	}
	check := checkOf(scheme + addr + words[1])
	check.Timeout = timeout
	if version := words[2]; version != "1" {
		check.Spec = uptime.Spec{HTTP: &uptime.HTTPSpec{Version: uptime.HTTPVersion(version)}}.Text()
	}
	o := e.Look(t.Context(), check)
	if time.Duration(o.TotalUS)*time.Microsecond > timeout+5*time.Second { // what a busy machine adds
		t.Errorf("%s took %d µs", what, o.TotalUS)
	}
	message, _, _ := strings.Cut(o.Message, ": current time")
	return strings.TrimSpace(fmt.Sprintf("%v %s%s %d %s %d/%d %s", o.Status, o.Failure, o.Reason, o.HTTPStatus, o.Seen.Protocol, o.Seen.WireBytes, o.Seen.BodyBytes, message))
}
