// Package testfleet gives tests the real programs, and an auditor that judges
// what they left behind.
//
// Programs builds the four programs once per test binary and variant. Audit
// compares the slots that were planned, by the relational database, with the rows
// in ClickHouse. It shares no code with the pipeline: its arithmetic is written
// out again, and it imports nothing of ours but test helpers.
//
// A package that uses Programs has
//
//	func TestMain(m *testing.M) { testfleet.Main(m) }
//
// which does what testbackend.Main does too.
package testfleet
