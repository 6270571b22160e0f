package failpoint

import (
	"os/exec"
	"slices"
	"testing"
)

func TestNamesAreThereOnce(t *testing.T) {
	t.Parallel()
	names := Names()
	slices.Sort(names)
	if len(names) == 0 || len(slices.Compact(names)) != len(Names()) {
		t.Errorf("%v", names)
	}
	for _, name := range names {
		Hit(name) // without the tag: nothing happens
	}
}

// TestArmed runs the tests of the tagged build, which no other build compiles.
func TestArmed(t *testing.T) {
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), "go", "test", "-tags", "failpoints", "-run", "^TestTagged", ".").CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
