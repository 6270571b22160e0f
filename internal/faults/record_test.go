package faults

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const root = "../.."

var accountsPath = filepath.Join(root, "docs", "faults.jsonl")

func readAccounts(t *testing.T) (all []account) {
	t.Helper()
	content, err := os.ReadFile(accountsPath)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(content)) {
		var a account
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatalf("docs/faults.jsonl: %v: %s", err, line)
		}
		all = append(all, a)
	}
	return all
}
