// Package spool keeps batches of results on disk while the result store cannot
// take them: an ordered, capped queue that survives a power cut.
//
// Guarantees:
//   - Append answers nil only when the file and its directory entry are fsynced.
//     Whatever it did not confirm is, after a crash, absent or whole; a half-written
//     file has a name of its own and is removed by Open. A whole file that was not
//     confirmed is replayed like any other: slots are keyed, it counts once.
//   - Batches are given back strictly in the order of Append, over restarts too: the
//     order is a sequence number in the file's name, never a clock.
//   - A file that was damaged costs nothing but itself. It is moved to DIR/corrupt,
//     counted and logged with its rows and slots; it counts no longer against the cap.
//     A file that belongs there after all (written by a newer release, or repaired) is
//     taken up again when it is moved back and the process restarts.
//   - A file counts whole 4 KiB blocks; together they never exceed MaxBytes. The
//     folder's own blocks come on top: about 100 bytes a file.
//   - A full spool (cap, disk or quota) refuses with ErrFull and keeps nothing; it
//     never drops what it confirmed. The caller holds the rows back.
//   - After a failed fsync, a short write or any other error of the disk the spool
//     appends nothing more (*IOError): the kernel forgets what it failed to write, so
//     a second fsync would answer OK for data that is gone. End the process (exit 74)
//     and read the disk anew.
//   - One file in memory at a time, whatever is queued; 40 bytes for each other (with
//     ByRegion some 150).
//   - One process at a time (flock; a dead process's lock is free); within it one
//     appender and one replayer at once.
//
// Remove does not wait for the disk: after a power cut a batch may come back and is
// replayed again, with the same token and rows.
//
// What a lost disk loses: the batches on it, which are acknowledged to Redis and not
// yet in the result store. Nothing else. Their slots become missed(lost) when the
// ledger is swept. For the same reason a folder that does not survive a restart is
// refused (see VolatileError).
//
// Format 1, little endian: "PFSB", version (2 bytes), zero (2), length of the
// payload (8), CRC32C of all that and the payload (4), payload: deflated JSON.
package spool
