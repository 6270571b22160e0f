package embedded

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// fetch installs the pinned package in a temporary folder beside its final
// place and renames it there, so that the final folder is complete or absent.
// The caller holds the lock, so folders left by an interrupted fetch are ours.
func fetch(ctx context.Context, base, folder string, progress func(done, total int64, text string)) error {
	npm, err := exec.LookPath("npm")
	if err != nil {
		return errors.New("the ClickHouse engine is fetched with npm, which is not on PATH: install Node.js (Debian, Ubuntu: `apt install npm`), or set CLICKHOUSE_URL to a ClickHouse server")
	}
	const prefix = ".fetch-"
	left, _ := filepath.Glob(filepath.Join(base, prefix+"*"))
	for _, dir := range left {
		_ = os.RemoveAll(dir)
	}
	work, err := os.MkdirTemp(base, prefix)
	if err != nil {
		return fmt.Errorf("create fetch folder: %w", err)
	}
	defer os.RemoveAll(work)
	for _, name := range []string{"package.json", "package-lock.json"} {
		text, err := engineFiles.ReadFile("engine/" + name)
		if err == nil {
			err = os.WriteFile(filepath.Join(work, name), text, 0o644)
		}
		if err != nil {
			return fmt.Errorf("write %s: %w", name, err)
		}
	}

	// What npm already has costs no download. What it has not goes through a
	// cache of our own, removed below: npm would keep 178 MB for ever.
	if npmCI(ctx, npm, work, progress, "unpacking the ClickHouse engine", "--offline") != nil {
		own := filepath.Join(work, "npm-cache")
		err := npmCI(ctx, npm, work, progress, "downloading the ClickHouse engine (178 MB)", "--cache", own)
		if err != nil {
			return err
		}
	}
	unpacked := filepath.Join(work, "node_modules", filepath.FromSlash(enginePackage))
	if err := settle(filepath.Join(unpacked, engineLibrary)); err != nil {
		return fmt.Errorf("keep the ClickHouse engine: %w", err)
	}
	if err := os.RemoveAll(folder); err != nil {
		return fmt.Errorf("remove incomplete engine: %w", err)
	}
	if err := os.Rename(unpacked, folder); err != nil {
		return fmt.Errorf("keep the ClickHouse engine: %w", err)
	}
	progress(engineBytes, engineBytes, "the ClickHouse engine is ready")
	return nil
}

// npmCI runs `npm ci`, which refuses a package whose hash is not the one in
// the lock file. It runs no package script.
func npmCI(ctx context.Context, npm, work string, progress func(done, total int64, text string), text string, more ...string) error {
	args := append([]string{"ci", "--ignore-scripts", "--no-audit", "--no-fund", "--no-update-notifier", "--loglevel=error"}, more...)
	cmd := exec.Command(npm, args...)
	cmd.Dir = work
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	cmd.WaitDelay = 5 * time.Second
	p, err := startProcess(cmd, syscall.SIGTERM)
	if err != nil {
		return err
	}
	ticker := time.NewTicker(300 * time.Millisecond)
	defer ticker.Stop()
	for {
		select {
		case <-p.done:
			if p.err == nil {
				return nil
			}
			return npmError(p.err, out.String())
		case <-ticker.C:
			progress(min(folderBytes(work), engineBytes), engineBytes, text)
		case <-ctx.Done():
			p.kill()
			return fmt.Errorf("fetch the ClickHouse engine: %w", ctx.Err())
		}
	}
}

// npmError says what to do about the ways npm is known to fail.
func npmError(err error, out string) error {
	advice := "see npm's message"
	for _, known := range []struct{ sign, advice string }{
		{"EINTEGRITY", "the registry delivered a file that is not the pinned one, and it was refused: check the registry npm is configured for"},
		{"EBADPLATFORM", ErrUnsupported.Error()},
		{"ENOSPC", "the disk is full: the engine needs about 800 MB while it is fetched (PROBEFLEET_CACHE chooses another folder)"},
		{"EACCES", "no permission to write: PROBEFLEET_CACHE chooses another cache folder"},
		{"E404", "the registry npm is configured for does not have this package: `npm config get registry` shows which one it is"},
		{"ENOTFOUND", ""}, {"EAI_AGAIN", ""}, {"ECONNREFUSED", ""}, {"ECONNRESET", ""}, {"ETIMEDOUT", ""}, {"network", ""},
	} {
		if !strings.Contains(out, known.sign) {
			continue
		}
		advice = known.advice
		if advice == "" {
			advice = "the package registry cannot be reached: connect once to fetch the engine, copy the cache folder from another machine, or set CLICKHOUSE_URL to a ClickHouse server"
		}
		break
	}
	return fmt.Errorf("fetch the ClickHouse engine: %s (npm ci: %w: %s)", advice, err, lastLines(out, 6))
}

func lastLines(text string, n int) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	return strings.Join(lines[max(0, len(lines)-n):], " | ")
}

// settle makes the library safe to load later: on disk, and ours alone to write.
func settle(lib string) error {
	if err := os.Chmod(lib, 0o755); err != nil {
		return err
	}
	f, err := os.Open(lib)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

func folderBytes(dir string) (total int64) {
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return nil // files come and go while npm works
		}
		if info, err := entry.Info(); err == nil {
			total += info.Size()
		}
		return nil
	})
	return total
}
