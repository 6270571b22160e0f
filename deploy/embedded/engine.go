package embedded

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

//go:embed engine/package.json engine/package-lock.json
var engineFiles embed.FS

const (
	enginePackage = "@chdb/lib-linux-x64-gnu"
	engineLibrary = "libchdb.so"
	// what the fetch writes to disk: the compressed package and its contents
	engineBytes = 177_817_999 + 569_042_837
)

var (
	// ErrNoEngine means that the engine is not in the cache folder.
	ErrNoEngine = errors.New("the ClickHouse engine has not been fetched")
	// ErrUnsupported means that no engine is built for this machine.
	ErrUnsupported = errors.New("the embedded ClickHouse engine exists for linux/amd64 with glibc only: set CLICKHOUSE_URL to a ClickHouse server instead")
)

// EngineVersion is the version pinned in the lock file.
func EngineVersion() (string, error) {
	text, err := engineFiles.ReadFile("engine/package-lock.json")
	if err != nil {
		return "", err
	}
	var lock struct {
		Packages map[string]struct{ Version, Integrity string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return "", fmt.Errorf("read engine lock file: %w", err)
	}
	pinned := lock.Packages["node_modules/"+enginePackage]
	if pinned.Version == "" || !strings.HasPrefix(pinned.Integrity, "sha512-") {
		return "", errors.New("engine lock file pins no version with a hash")
	}
	return pinned.Version, nil
}

// CacheDir is where the engine is kept when no folder is given:
// $PROBEFLEET_CACHE, else a folder in the user's cache.
func CacheDir() (string, error) {
	if dir := os.Getenv("PROBEFLEET_CACHE"); dir != "" {
		return filepath.Abs(dir)
	}
	dir, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("find a cache folder (set PROBEFLEET_CACHE): %w", err)
	}
	return filepath.Join(dir, "probefleet"), nil
}

// FindEngine returns the library in the cache folder ("" for CacheDir) and
// never touches the network. It returns ErrNoEngine when FetchEngine is needed.
func FindEngine(cacheDir string) (string, error) {
	if runtime.GOOS != "linux" || runtime.GOARCH != "amd64" {
		return "", ErrUnsupported
	}
	_, folder, err := engineFolder(cacheDir)
	if err != nil {
		return "", err
	}
	lib := filepath.Join(folder, engineLibrary)
	info, err := os.Stat(lib)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("%w (looked in %s)", ErrNoEngine, folder)
	}
	if err != nil {
		return "", fmt.Errorf("look for the ClickHouse engine: %w", err)
	}
	// The library is loaded as code: a file that others may write is refused.
	if info.Mode().Perm()&0o022 != 0 {
		return "", fmt.Errorf("%s can be written by other users: run `chmod go-w` on it, or delete it to fetch it again", lib)
	}
	return lib, nil
}

// FetchEngine returns the library in the cache folder ("" for CacheDir),
// fetching it first when it is not there: about 178 MB to download and 566 MB
// on disk. Processes that call it at once fetch it once. progress may be nil.
func FetchEngine(ctx context.Context, cacheDir string, progress func(done, total int64, text string)) (string, error) {
	lib, err := FindEngine(cacheDir)
	if !errors.Is(err, ErrNoEngine) {
		return lib, err
	}
	if progress == nil {
		progress = func(int64, int64, string) {}
	}
	base, folder, err := engineFolder(cacheDir)
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(base, 0o755); err != nil {
		return "", fmt.Errorf("create cache folder: %w", err)
	}
	lock, err := waitLock(ctx, folder+".lock", func() {
		progress(0, engineBytes, "waiting for another process that fetches the ClickHouse engine")
	})
	if err != nil {
		return "", err
	}
	defer lock.Close()
	if lib, err := FindEngine(cacheDir); !errors.Is(err, ErrNoEngine) {
		return lib, err
	}
	if err := fetch(ctx, base, folder, progress); err != nil {
		return "", err
	}
	return FindEngine(cacheDir)
}

func engineFolder(cacheDir string) (base, folder string, err error) {
	version, err := EngineVersion()
	if err != nil {
		return "", "", err
	}
	if cacheDir == "" {
		if cacheDir, err = CacheDir(); err != nil {
			return "", "", err
		}
	}
	if base, err = filepath.Abs(cacheDir); err != nil {
		return "", "", fmt.Errorf("cache folder: %w", err)
	}
	return base, filepath.Join(base, "chdb-"+version), nil
}

func waitLock(ctx context.Context, path string, waiting func()) (*os.File, error) {
	ticker := time.NewTicker(200 * time.Millisecond)
	defer ticker.Stop()
	for first := true; ; first = false {
		lock, err := lockFile(path)
		if !errors.Is(err, ErrLocked) {
			return lock, err
		}
		if first {
			waiting()
		}
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("wait for %s: %w", path, ctx.Err())
		case <-ticker.C:
		}
	}
}
