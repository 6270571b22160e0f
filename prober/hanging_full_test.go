//go:build faults

package main

import "time"

// As many as 10,000 targets a minute are.
var hanging = flood{hanging: 167, healthy: 20, timeout: 10 * time.Second, seconds: 25, megabytes: 256}
