//go:build faults

package main

import "time"

// floods are as many as 10,000 targets a minute are: with the timeout that is the default,
// and with the longest.
var floods = []flood{
	{hanging: 167, healthy: 20, timeout: 10 * time.Second, seconds: 25, megabytes: 256},
	{hanging: 167, healthy: 20, timeout: 30 * time.Second, seconds: 34, megabytes: 512},
}
