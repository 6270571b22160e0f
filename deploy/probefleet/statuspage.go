package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
)

type pageCommand struct {
	Export pageExportCommand `cmd:"" help:"Write a published page to a folder, as files that need no server: for a web server elsewhere, in case this one is away."`
}

// pageExportCommand writes a page to a folder.
type pageExportCommand struct {
	Slug string `arg:"" help:"The page: that at /s/SLUG."`
	Into string `arg:"" help:"Folder to write to; it is made when it is not there. Files of before are replaced."`

	apiFlags `embed:""`
}

// pageCopyJSON is what this tool reads of the API's answer.
type pageCopyJSON struct {
	MadeAt time.Time         `json:"made_at"`
	Files  map[string]string `json:"files"`
}

// Run asks for the copy and writes it, index.html at the end: who reads meanwhile gets what it
// leads to.
func (c *pageExportCommand) Run(ctx context.Context, to console) error {
	api, err := c.connect(ctx, "status-page export", accountstore.RoleViewer)
	if err != nil {
		return err
	}
	id, err := c.find(ctx, api)
	if err != nil {
		return err
	}
	raw, err := api.get(ctx, "/api/v1/status-pages/"+strconv.FormatInt(id, 10)+"/copy")
	if err != nil {
		return err
	}
	var made pageCopyJSON
	if err := json.Unmarshal(raw, &made); err != nil || made.Files["index.html"] == "" {
		return errors.Join(errors.New("the API's answer is no page"), err)
	}
	if err := os.MkdirAll(c.Into, 0o755); err != nil {
		return err
	}
	var names []string
	for name := range made.Files {
		if name != filepath.Base(name) || strings.HasPrefix(name, ".") { // who answers may not write elsewhere
			return fmt.Errorf("the API's answer: no file of a page is called %q", plain(name))
		}
		if name != "index.html" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range append(names, "index.html") {
		if err := replaceFile(filepath.Join(c.Into, name), made.Files[name]); err != nil {
			return err
		}
	}
	_, err = fmt.Fprintf(to.Out, "%d files in %s, as of %s\n", len(made.Files), c.Into, made.MadeAt.UTC().Format(time.RFC3339))
	return err
}

// find gives the id of the page.
func (c *pageExportCommand) find(ctx context.Context, api *apiClient) (int64, error) {
	for cursor := ""; ; {
		raw, err := api.get(ctx, "/api/v1/status-pages?limit=100&cursor="+url.QueryEscape(cursor))
		if err != nil {
			return 0, err
		}
		var list struct {
			Items []struct {
				ID        int64  `json:"id"`
				Slug      string `json:"slug"`
				Published bool   `json:"published"`
			} `json:"items"`
			NextCursor string `json:"next_cursor"`
		}
		if err := json.Unmarshal(raw, &list); err != nil {
			return 0, fmt.Errorf("the API's answer: %w", err)
		}
		for _, page := range list.Items {
			switch {
			case page.Slug == c.Slug && !page.Published:
				return 0, fmt.Errorf("the page %s is a draft: publish it first", c.Slug)
			case page.Slug == c.Slug:
				return page.ID, nil
			}
		}
		if cursor = list.NextCursor; cursor == "" {
			return 0, fmt.Errorf("there is no status page %s", c.Slug)
		}
	}
}

// replaceFile writes a file as a whole, or leaves the one of before.
func replaceFile(path, content string) error {
	file, err := os.CreateTemp(filepath.Dir(path), ".page-*")
	if err != nil {
		return err
	}
	_, err = file.WriteString(content)
	if err = errors.Join(err, file.Chmod(0o644), file.Close()); err == nil {
		err = os.Rename(file.Name(), path)
	}
	if err != nil {
		_ = os.Remove(file.Name())
	}
	return err
}
