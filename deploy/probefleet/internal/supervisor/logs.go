package supervisor

import (
	"context"
	"os"
	"path/filepath"
	"time"
)

// Rotate keeps every log under limit bytes until ctx ends: the programs append,
// so a log that is copied aside and cut goes on from its beginning.
func (s *Supervisor) Rotate(ctx context.Context, limit int64) {
	ticker := time.NewTicker(30 * time.Second)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			for _, state := range s.States() {
				if err := rotate(filepath.Join(s.o.LogDir, state.Name+".log"), limit); err != nil {
					s.o.Log.Warn("log was not rotated", "program", state.Name, "error", err)
				}
			}
		case <-ctx.Done():
			return
		}
	}
}

func rotate(path string, limit int64) error {
	info, err := os.Stat(path)
	if err != nil || info.Size() < limit {
		return err
	}
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".1", content, 0o600); err != nil {
		return err
	}
	return os.Truncate(path, 0)
}

func openLog(path string) (*os.File, error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return nil, err
	}
	return os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
}
