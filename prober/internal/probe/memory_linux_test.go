package probe

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

const bombedChild = "PROBE_BOMBED_CHILD"

// What a target sends to make a visit large makes the process little larger. Each answer
// is visited by a process of its own, which says by how much the most memory it ever had
// is more than what it had before.
func TestHostileAnswersTakeLittleMemory(t *testing.T) {
	if url := os.Getenv(bombedChild); url != "" {
		bombed(t, url)
		return
	}
	t.Parallel()
	l := startLab(t)
	for path, most := range map[string]int{ // MiB
		"/endless/length": 4, "/endless/chunked": 4, "/bomb/gzip": 4, "/bomb/deflate": 4, "/bomb/endless": 4,
		"/bomb/zstd": 4, "/bomb/zstd-window": 4, "/bomb/br": 4,
		"/header-line/10000000": 4, "/endless-header": 4, "/endless-headers": 4, "/endless-interim": 4, "/endless-trailers": 4,
	} {
		if withRaces() {
			most *= 4
		}
		child := exec.Command(os.Args[0], "-test.run=^TestHostileAnswersTakeLittleMemory$", "-test.v")
		child.Env = append(os.Environ(), bombedChild+"="+l.URL()+path)
		out, err := child.CombinedOutput()
		_, said, _ := strings.Cut(string(out), "grew by ")
		var grew int
		if _, scan := fmt.Sscan(said, &grew); err != nil || scan != nil || grew > most<<10 {
			t.Errorf("%s: %v, %d KiB\n%s", path, err, grew, out)
		}
		t.Logf("%s: %d KiB", path, grew)
	}
}

// withRaces says whether the race detector is here, which takes several times the memory.
func withRaces() bool {
	info, ok := debug.ReadBuildInfo()
	return ok && slices.Contains(info.Settings, debug.BuildSetting{Key: "-race", Value: "true"})
}

// bombed makes a visit and says what it did to the size of this process.
func bombed(t *testing.T, url string) {
	e := New(options(nil))
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	check := checkOf(url)
	check.Spec, check.Timeout = wanting("body - not_contains never there").Text(), 20*time.Second
	fine := check
	fine.URL = url[:strings.Index(url[len("http://"):], "/")+len("http://")] + "/ok"
	for range 10 {
		e.Look(ctx, fine)
	}
	debug.FreeOSMemory()
	if err := os.WriteFile("/proc/self/clear_refs", []byte("5"), 0); err != nil { // the most is what it is now: proc(5)
		t.Fatal(err)
	}
	before := status(t, "VmRSS")
	if o := e.Look(ctx, check); o.Status == uptime.StatusUnknown || o.Failure == uptime.FailureTimeout {
		t.Errorf("%+v", o)
	}
	fmt.Printf("grew by %d KiB\n", status(t, "VmHWM")-before)
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
