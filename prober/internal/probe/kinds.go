package probe

import "github.com/probefleet/probefleet/internal/uptime"

// kinds names the checker of every kind of check.
func kinds(o Options) map[uptime.Kind]Checker {
	return map[uptime.Kind]Checker{
		uptime.KindHTTP: newHTTPChecker(o),
	}
}
