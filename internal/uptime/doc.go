// Package uptime holds the words of Probefleet: target, check, slot, result,
// status, failure, reason, phase, and the arithmetic of schedules.
//
// It does no I/O and imports only the standard library, so every service, test
// and tool can share it. Instants are UTC; durations are time.Duration in Go and
// carry their unit in JSON and SQL (interval_s, timeout_ms, total_us).
package uptime
