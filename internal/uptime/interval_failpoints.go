//go:build failpoints

package uptime

import "time"

// MinInterval is the shortest interval between two checks of a target. Programs built for tests
// accept one second, so that a test waits a tenth of the time for its next slot.
const MinInterval = time.Second
