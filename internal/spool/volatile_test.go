package spool

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestVolatileFolders: places are what they are, not what they are called.
func TestVolatileFolders(t *testing.T) {
	t.Parallel()
	root := resolved(t.TempDir())
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"temp/in", "tempest", "disk", "memory"} {
		must(os.MkdirAll(filepath.Join(root, name), 0o700))
	}
	for link, to := range map[string]string{"link": "temp/in", "templink": "temp", "disk/back": "../memory", "temp/out": "../disk"} {
		must(os.Symlink(to, filepath.Join(root, link)))
	}
	o := &osFS{
		temps: []string{filepath.Join(root, "templink")},
		kind: func(path string) (string, error) {
			if strings.HasPrefix(path, filepath.Join(root, "memory")) {
				return "tmpfs", nil
			}
			return "", nil
		},
	}
	temp := "temporary folder " + filepath.Join(root, "templink")
	for dir, want := range map[string]string{
		"disk":                 "",
		"disk/not/yet/there":   "",
		"tempest/spool":        "", // not below temp
		"temp":                 temp,
		"temp/in/spool":        temp,
		"temp/not/yet/there":   temp,
		"link":                 temp,
		"link/spool":           temp,
		"templink/spool":       temp,
		"disk/../temp/x":       temp,
		"temp/out/spool":       "", // a way through it that leads to a disk
		"memory":               "tmpfs",
		"memory/spool/eu":      "tmpfs",
		"disk/back/spool/deep": "tmpfs",
	} {
		got, err := o.Volatile(filepath.Join(root) + "/" + dir)
		if err != nil || got != want {
			t.Errorf("%s: %q, %v; want %q", dir, got, err, want)
		}
	}
	if _, err := o.Volatile(filepath.Join(root, "disk")); err != nil {
		t.Error(err)
	}
	loop := filepath.Join(root, "loop")
	must(os.Symlink(loop, loop))
	if _, err := o.Volatile(loop); err == nil {
		t.Error("a loop of links was judged")
	}
}

func TestVolatileFolderIsRefused(t *testing.T) {
	t.Parallel()
	for _, temp := range []string{"/tmp", "/var/tmp", os.TempDir(), t.TempDir()} {
		temp, err := os.MkdirTemp(temp, "spool-test-")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(temp)
		dir := filepath.Join(temp, "not/yet")
		_, err = Open(Options{Dir: dir})
		refused, ok := errors.AsType[*VolatileError](err)
		if !ok || refused.Dir != dir || !strings.Contains(err.Error(), "volatile switch") {
			t.Errorf("%s: %v", dir, err)
		}
		if _, err := os.Stat(dir); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s was made", dir)
		}
	}
	s, err := Open(Options{Dir: t.TempDir(), Volatile: true})
	if err != nil {
		t.Fatal(err)
	}
	_ = s.Close()
}
