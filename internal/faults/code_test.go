//go:build faults

package faults

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// pipeline are the folders whose code decides whether a slot gets its row. Results
// of runs in which it was equal may be added up.
func pipeline() []string {
	return []string{"publisher", "prober", "migrations", "internal/checkstream", "internal/failpoint", "internal/lease", "internal/ledger",
		"internal/recorder", "internal/resultstore", "internal/schedulestore", "internal/spool", "internal/storing", "internal/targetstore", "internal/uptime", "internal/watchdog"}
}

type code struct {
	commit string
	dirty  bool
	hash   string
}

// codeUnderTest is the commit, whether the pipeline differs from it, and the hash.
func codeUnderTest(t *testing.T) code {
	t.Helper()
	git := func(args ...string) string {
		cmd := exec.Command("git", args...)
		cmd.Dir = root
		out, err := cmd.Output()
		if err != nil {
			t.Fatalf("git %v: %v", args, err)
		}
		return strings.TrimSpace(string(out))
	}
	return code{
		commit: git("rev-parse", "--short=12", "HEAD"),
		dirty:  git(append([]string{"status", "--porcelain", "--"}, pipeline()...)...) != "",
		hash:   pipelineHash(t),
	}
}

// pipelineHash is over the sources without tests and comments.
func pipelineHash(t *testing.T) string {
	t.Helper()
	hash := sha256.New()
	for _, folder := range pipeline() {
		err := filepath.WalkDir(filepath.Join(root, folder), func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			var content []byte
			switch ext := filepath.Ext(path); {
			case strings.HasSuffix(path, "_test.go") || strings.Contains(path, "/testdata/"):
				return nil
			case ext == ".go":
				content, err = withoutComments(path)
			case ext == ".lua" || ext == ".sql":
				content, err = os.ReadFile(path)
			default:
				return nil
			}
			_, _ = fmt.Fprintf(hash, "%s %d\n%s", filepath.ToSlash(path), len(content), content)
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
	}
	return hex.EncodeToString(hash.Sum(nil))[:12]
}

func withoutComments(path string) ([]byte, error) {
	files := token.NewFileSet()
	parsed, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = printer.Fprint(&out, files, parsed)
	return bytes.Join(bytes.Fields(out.Bytes()), []byte(" ")), err
}

func appendAccount(t *testing.T, a account) {
	t.Helper()
	line, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	file, err := os.OpenFile(accountsPath, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		t.Fatal(err)
	}
	_, err = file.Write(append(line, '\n'))
	if err = errors.Join(err, file.Close()); err != nil {
		t.Fatal(err)
	}
}

// trialsDone counts the good trials of a row at this size or more.
func trialsDone(all []account, row, hash string, targets int, outage time.Duration) (n int) {
	for _, a := range all {
		if a.OK && a.Row == row && a.Pipeline == hash && a.Targets >= targets && a.OutageS >= outage.Seconds() {
			n += a.N
		}
	}
	return n
}
