package main

import (
	"path/filepath"

	"github.com/probefleet/probefleet/internal/spool"
)

// Names that are no region's: they have a folder in DIR/spool, too.
const (
	publisherSpool = "publisher"
	apiSpool       = "dashboard-api"
)

func (in *installation) spoolDir(name string) string { return filepath.Join(in.dir, "spool", name) }

// volatileDir says why the folder will not outlive a restart of the machine; empty
// when it will. Programs refuse such a spool unless they are told that it is meant:
// with --dir there, everything else is as short-lived.
func volatileDir(dir string) string {
	kind, err := spool.Volatile(dir)
	if err != nil { // the program that opens the spool says so
		return ""
	}
	return kind
}
