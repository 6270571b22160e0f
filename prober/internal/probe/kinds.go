package probe

import "github.com/probefleet/probefleet/internal/uptime"

// compilers names the compiler of every kind of check.
func compilers(o Options) map[uptime.Kind]compiler {
	dialer := newDialer(o)
	return map[uptime.Kind]compiler{
		uptime.KindHTTP: newWeb(o, dialer).compile,
		uptime.KindTCP:  dialer.compileTCP,
		uptime.KindTLS:  dialer.compileTLS,
		uptime.KindICMP: (&pings{dialer: dialer, guard: o.Guard, open: openEcho}).compile,
	}
}
