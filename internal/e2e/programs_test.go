//go:build !load && !bench

package e2e

import "github.com/probefleet/probefleet/internal/testfleet"

// variant is the programs that tests run: they accept intervals of one second.
var variant = testfleet.Build{Failpoints: true}
