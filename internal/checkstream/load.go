package checkstream

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Load is what a region's stream and its server have to carry. Shares are from 0 to 1,
// or above when there is more than there should be; NaN: not known.
type Load struct {
	Lag    time.Duration // how long ago the second of the first check began that no prober of the region was given; 0: all were
	Depth  float64       // entries in the stream, of those from which on publishing is refused
	Memory float64       // memory in use, of what the server may use: its maxmemory or, without one, all there is on its machine
}

// Load tells how much there is to do. The error means that nothing is known.
func (c *Consumer) Load(ctx context.Context) (Load, error) {
	reply, err := c.r.scripts.load.Run(ctx, c.r.commands, []string{keyChecks, keyClock}, c.region).Slice()
	if err != nil {
		return Load{}, fmt.Errorf("load of checks: %w", err)
	}
	if len(reply) != 4 {
		return Load{}, fmt.Errorf("load of checks: unexpected reply of %d parts", len(reply))
	}
	var parts [4]string
	for i, part := range reply {
		parts[i] = fmt.Sprint(part)
	}
	load := Load{Depth: share(parts[1], parts[2]), Memory: math.NaN()}
	if parts[3] != "" {
		second, _, err := parseID(parts[3])
		if err != nil {
			return Load{}, fmt.Errorf("load of checks: %w", err)
		}
		now, err := strconv.ParseInt(parts[0], 10, 64)
		if err != nil {
			return Load{}, fmt.Errorf("load of checks: %w", err)
		}
		load.Lag = max(0, time.Duration(now-second*1000)*time.Millisecond)
	}
	if info, err := c.r.commands.Info(ctx, "memory").Result(); err == nil { // the embedded server has no such section
		load.Memory = memoryShare(info)
	}
	return load, nil
}

// memoryShare reads the section memory of INFO.
func memoryShare(info string) float64 {
	var used, most, machine string
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		switch name {
		case "used_memory":
			used = value
		case "maxmemory":
			most = value
		case "total_system_memory":
			machine = value
		}
	}
	if most == "0" { // no limit of its own
		most = machine
	}
	return share(used, most)
}

// share is a part of a whole, NaN when either is not known.
func share(part, whole string) float64 {
	n, err1 := strconv.ParseFloat(part, 64)
	of, err2 := strconv.ParseFloat(whole, 64)
	if err1 != nil || err2 != nil || of <= 0 {
		return math.NaN()
	}
	return n / of
}
