package faults

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	ownTest = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz|Benchmark)\w+)\(`)
	runs    = regexp.MustCompile(`-(?:run|bench) (?:'([^']+)'|(\S+))`)
	folder  = regexp.MustCompile(`\./\S+`)
)

// testsIn are the names of all tests of a package.
func testsIn(t *testing.T, dir string) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range ownTest.FindAllStringSubmatch(string(content), -1) {
			names = append(names, found[1])
		}
	}
	return names
}

// TestProofsExist: a command that runs no test would prove everything.
func TestProofsExist(t *testing.T) {
	t.Parallel()
	for _, f := range catalogue() {
		for command := range strings.SplitSeq(f.proven, " && ") {
			if !strings.HasPrefix(command, "go test") {
				continue
			}
			var names []string
			for _, dir := range folder.FindAllString(command, -1) {
				names = append(names, testsIn(t, dir)...)
			}
			if len(names) == 0 {
				t.Errorf("%s: %s: there is no such package", f.id, command)
			}
			for _, run := range runs.FindAllStringSubmatch(command, -1) {
				for pattern := range strings.SplitSeq(run[1]+run[2], "|") {
					if pattern != "^$" && !regexp.MustCompile(pattern).MatchString(strings.Join(names, "\n")) {
						t.Errorf("%s: %s: no test is called %s", f.id, command, pattern)
					}
				}
			}
		}
	}
}
