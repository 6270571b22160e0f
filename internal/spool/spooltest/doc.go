// Package spooltest is a file system for tests of the spool: in memory, strict about
// durability, and able to fail.
//
// It keeps what a program sees apart from what a power cut would leave. Content is
// durable after a Sync of its file, entries of a folder after a SyncDir of it; Crash
// loses the rest, and CrashKeeping lets chance decide about each part of it. After a
// failed Sync or SyncDir what it should have written is lost for good, and repeating
// the call answers OK: as Linux does. Kill ends the process only and loses nothing.
package spooltest
