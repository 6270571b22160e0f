package embedded_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/probefleet/probefleet/deploy/embedded"
)

// TestMergesStepBack: whoever asks something is before them.
func TestMergesStepBack(t *testing.T) {
	t.Parallel()
	c := startClickHouse(t, embedded.Options{})
	execute(t, connect(t, c.URL()), tableDDL) // the threads are made for the first table
	await(t, "every merging thread is nice", func() bool {
		names, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/comm", c.PID()))
		if err != nil {
			t.Fatal(err)
		}
		merging := 0
		for _, path := range names {
			name, err := os.ReadFile(path)
			if err != nil || strings.TrimSpace(string(name)) != "MergeMutate" {
				continue
			}
			thread, err := strconv.Atoi(filepath.Base(filepath.Dir(path)))
			if err != nil {
				t.Fatal(err)
			}
			if claim, err := unix.Getpriority(unix.PRIO_PROCESS, thread); err != nil || 20-claim != 10 { // as getpriority(2) of the kernel counts
				return false
			}
			merging++
		}
		return merging == 2
	})
}
