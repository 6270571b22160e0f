//go:build load || bench

package e2e

import "github.com/probefleet/probefleet/internal/testfleet"

// variant is the programs that are measured: those that people run.
var variant testfleet.Build
