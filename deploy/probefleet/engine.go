package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/probefleet/probefleet/deploy/embedded"
	"github.com/probefleet/probefleet/internal/service"
)

type engineCommand struct {
	Fetch engineFetch `cmd:"" help:"Fetch the engine with the npm client into the cache folder, once (178 MB)."`
}

type engineFetch struct{}

func (engineFetch) Run(ctx context.Context, to console) error {
	path, err := fetchEngine(ctx, to.Err)
	if err == nil {
		_, _ = fmt.Fprintln(to.Out, path)
	}
	return service.Exit(service.ExitDependency, err)
}

// fetchEngine shows a bar on a terminal and a line every five seconds elsewhere.
func fetchEngine(ctx context.Context, out io.Writer) (string, error) {
	file, isFile := out.(*os.File)
	terminal := isFile && term.IsTerminal(int(file.Fd()))
	var last time.Time
	shown := false
	path, err := embedded.FetchEngine(ctx, "", func(done, total int64, text string) {
		if !terminal && time.Since(last) < 5*time.Second {
			return
		}
		last, shown = time.Now(), true
		line := "fetching the ClickHouse engine: " + text
		if total > 0 {
			line = fmt.Sprintf("fetching the ClickHouse engine: %d of %d MB, %s", done>>20, total>>20, text)
		}
		if terminal {
			_, _ = fmt.Fprintf(out, "\r\033[K%s", line)
		} else {
			_, _ = fmt.Fprintln(out, line)
		}
	})
	if terminal && shown {
		_, _ = fmt.Fprintln(out)
	}
	return path, err
}
