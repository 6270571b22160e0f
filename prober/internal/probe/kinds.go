package probe

import "github.com/probefleet/probefleet/internal/uptime"

// compilers names the compiler of every kind of check.
func compilers(o Options) map[uptime.Kind]compiler {
	dialer := newDialer(o)
	web := newWeb(o, dialer)
	return map[uptime.Kind]compiler{
		uptime.KindHTTP:      web.compile,
		uptime.KindTCP:       dialer.compileTCP,
		uptime.KindTLS:       dialer.compileTLS,
		uptime.KindICMP:      (&pings{dialer: dialer, guard: o.Guard, open: openEcho}).compile,
		uptime.KindDNS:       (&dnsKind{dialer: dialer, questions: o.Questions, agent: web.agent}).compile,
		uptime.KindGRPC:      (&grpcKind{dialer: dialer, agent: web.agent}).compile,
		uptime.KindWebSocket: newWSKind(dialer, web.agent).compile,
	}
}
