//go:build !failpoints

package uptime

import "time"

// MinInterval is the shortest interval between two checks of a target.
const MinInterval = 10 * time.Second
