//go:build !faults

package main

import "time"

// floods are few enough for the race detector, on a machine that does other things too.
var floods = []flood{{hanging: 60, healthy: 20, timeout: 2 * time.Second, seconds: 7, megabytes: 256}}
