package probe

import (
	"encoding/json"
	"fmt"
	"io"
	"log"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

const bombedChild = "PROBE_BOMBED_CHILD"

// bombing is what a process visits to be measured.
type bombing struct {
	Check, Fine uptime.Check     // hostile, and not
	Together    int              // visits at a time
	Want        []uptime.Failure // one of them
}

// What a target sends to make a visit large makes the process little larger. Each answer
// is visited by a process of its own, which says by how much the most memory it ever had
// is more than what it had before.
func TestHostileAnswersTakeLittleMemory(t *testing.T) {
	if isBombed(t) {
		return
	}
	t.Parallel()
	l := startLab(t)
	for path, want := range map[string]uptime.Failure{
		"/endless/length": uptime.FailureTooLarge, "/endless/chunked": uptime.FailureTooLarge,
		"/bomb/gzip": uptime.FailureTooLarge, "/bomb/deflate": uptime.FailureTooLarge, "/bomb/endless": uptime.FailureTooLarge,
		"/bomb/zstd": uptime.FailureTooLarge, "/bomb/zstd-window": uptime.FailureProtocol, "/bomb/br": uptime.FailureTooLarge,
		"/header-line/10000000": uptime.FailureTooLarge, "/endless-header": uptime.FailureTooLarge, "/endless-headers": uptime.FailureTooLarge,
		"/endless-interim": uptime.FailureProtocol, "/endless-trailers": uptime.FailureProtocol,
	} {
		check := checkOf(l.URL() + path)
		check.Spec, check.Timeout = wanting("body - not_contains never there").Text(), 20*time.Second
		fine := check
		fine.URL = l.URL() + "/ok"
		b := bombing{Check: check, Fine: fine, Together: 1, Want: []uptime.Failure{want}}
		b.take(t, path, 4<<10)
	}
}

// take makes the visits in a process, which each may make larger by so many KiB, or by several times
// as many with the race detector.
func (b *bombing) take(t *testing.T, name string, most int) {
	t.Helper()
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	child := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	child.Env = append(os.Environ(), bombedChild+"="+string(text), "GORACE=atexit_sleep_ms=0") // else the race detector sleeps a second
	out, err := child.CombinedOutput()
	_, said, _ := strings.Cut(string(out), "grew by ")
	var grew int
	_, scan := fmt.Sscan(said, &grew)
	grew /= b.Together
	t.Logf("%s: %d KiB", name, grew)
	if err != nil || scan != nil || grew > most*(1+7*racing) {
		t.Errorf("%s: %v, %d KiB\n%s", name, err, grew, out)
	}
}

// isBombed says whether this is a process that was started to be measured, and then does what it is
// for: it makes the visits, and says what they did to its size.
func isBombed(t *testing.T) bool {
	t.Helper()
	text := os.Getenv(bombedChild)
	if text == "" {
		return false
	}
	log.SetOutput(io.Discard) // net/http notes there what odd frames it was sent
	var b bombing
	if err := json.Unmarshal([]byte(text), &b); err != nil {
		t.Fatal(err)
	}
	e := New(options(nil))
	for range 10 {
		if o := e.Look(t.Context(), b.Fine); o.Status != uptime.StatusUp {
			t.Fatalf("%+v", o)
		}
	}
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // the most is what it is now: proc(5)
		t.Fatal(err)
	}
	before := status(t, "VmRSS")
	var visits sync.WaitGroup
	for range b.Together {
		visits.Go(func() {
			if o := e.Look(t.Context(), b.Check); !slices.Contains(b.Want, o.Failure) || !o.Status.Measured() {
				t.Errorf("%v %q %q: %s", o.Status, o.Failure, o.Reason, o.Message)
			}
		})
	}
	visits.Wait()
	fmt.Printf("grew by %d KiB\n", status(t, "VmHWM")-before)
	return true
}

// status is a line of this process's status, in KiB.
func status(t *testing.T, line string) (kib int) {
	t.Helper()
	content, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(content), line+":")
	if _, err := fmt.Sscan(rest, &kib); err != nil {
		t.Fatal(err)
	}
	return kib
}
