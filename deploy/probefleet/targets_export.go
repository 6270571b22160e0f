package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/service"
)

const targetsFormat = "probefleet-targets-1" // of the document that an export is

// exportCommand writes the settings of all targets, as `probefleet import` takes them.
type exportCommand struct {
	Out     string `short:"o" placeholder:"FILE" help:"File to write, for its owner only; default: the standard output. It gets its name when it is whole."`
	Replace bool   `help:"Write over FILE if it is there."`

	apiFlags `embed:""`
}

func (c *exportCommand) Run(ctx context.Context, to console) error {
	err := c.run(ctx, to)
	switch {
	case err == nil || ctx.Err() == nil:
		return err
	case c.Out == "":
		err = errors.New("interrupted: what was written is a part")
	default:
		err = errors.New("interrupted: nothing was written")
	}
	return service.Exit(service.ExitDependency, err)
}

func (c *exportCommand) run(ctx context.Context, to console) error {
	if c.Out == "" {
		_, err := c.fetch(ctx, to.Out)
		return service.Exit(service.ExitDependency, err)
	}
	if err := c.free(); err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	file, err := os.CreateTemp(filepath.Dir(c.Out), ".probefleet-export-*") // its mode is 0600
	if err != nil {
		return fmt.Errorf("open the file: %w", err)
	}
	defer os.Remove(file.Name()) // by then it has another name
	n, err := c.fetch(ctx, file)
	if err != nil {
		_ = file.Close()
		return service.Exit(service.ExitDependency, err)
	}
	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return fmt.Errorf("write the file: %w", err)
	}
	if !c.Replace {
		err = os.Link(file.Name(), c.Out) // unlike a rename it writes over nothing: somebody may have been quicker
	} else {
		err = os.Rename(file.Name(), c.Out)
	}
	if err != nil {
		return fmt.Errorf("name the file: %w", err)
	}
	_, err = fmt.Fprintf(to.Out, "%s: %s\n", c.Out, countTargets(n))
	return err
}

// free says whether the file may be written.
func (c *exportCommand) free() error {
	switch there, err := os.Lstat(c.Out); {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("open the file: %w", err)
	case c.Replace && there.Mode().IsRegular():
		return nil
	case c.Replace:
		return fmt.Errorf("%s is no file that can be replaced: nothing was written", c.Out)
	}
	return fmt.Errorf("%s is there already: nothing was written; choose another name, or say --replace", c.Out)
}

// fetch copies the API's document, and fails unless it is whole.
func (c *exportCommand) fetch(ctx context.Context, out io.Writer) (n int, err error) {
	api, err := c.connect(ctx, "export", accountstore.RoleViewer)
	if err != nil {
		return 0, err
	}
	err = api.stream(ctx, http.MethodGet, "/api/v1/targets:export?format=json", nil, exportStall, func(answer io.Reader) error {
		buffer := bufio.NewWriterSize(out, 64<<10)
		copied := io.TeeReader(answer, buffer)
		if n, err = wholeExport(json.NewDecoder(copied)); err != nil {
			_ = buffer.Flush()
			return fmt.Errorf("the export is not whole: %w", err)
		}
		if _, err := io.Copy(io.Discard, copied); err != nil {
			return fmt.Errorf("the export is not whole: %w", err)
		}
		return buffer.Flush()
	})
	return n, err
}

// wholeExport reads a document and compares what it says at its end with what is in it.
func wholeExport(in *json.Decoder) (n int, err error) {
	count, format := -1, ""
	if _, err := in.Token(); err != nil {
		return 0, cutOff(err)
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return n, cutOff(err)
		}
		switch name {
		case "targets":
			n, err = countItems(in)
		case "count":
			err = in.Decode(&count)
		case "format":
			err = in.Decode(&format)
		default:
			err = in.Decode(&json.RawMessage{})
		}
		if err != nil {
			return n, cutOff(err)
		}
	}
	if _, err := in.Token(); err != nil {
		return n, cutOff(err)
	}
	switch {
	case format != targetsFormat:
		return n, fmt.Errorf("this is no export that can be read here: it would say %s", targetsFormat)
	case n != count:
		return n, fmt.Errorf("it says that it has %d targets, and has %d", count, n)
	}
	return n, nil
}

func countItems(in *json.Decoder) (n int, err error) {
	if _, err := in.Token(); err != nil {
		return 0, err
	}
	for ; in.More(); n++ {
		if err := in.Decode(&json.RawMessage{}); err != nil {
			return n, err
		}
	}
	_, err = in.Token()
	return n, err
}

// cutOff names an end that comes too early.
func cutOff(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCut
	}
	return err
}

func countTargets(n int) string {
	if n == 1 {
		return "1 target"
	}
	return fmt.Sprintf("%d targets", n)
}
