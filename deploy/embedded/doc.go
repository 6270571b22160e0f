// Package embedded runs the two data stores of a one-machine installation as
// child processes on loopback: a real ClickHouse engine and a Redis server.
//
// What is guaranteed:
//
//   - The engine is fetched once, by the npm client, against the integrity hash
//     in the lock file compiled into this package; a folder in the cache is
//     complete or absent.
//   - A child never outlives its parent, however the parent ends (Linux).
//     A child that ends by itself is reported through Done.
//   - Both listen on 127.0.0.1 only and ask for a password generated per data
//     folder. The password is in no command line and no environment.
//   - One data folder has one server: a second start gets ErrLocked.
//   - ClickHouse acknowledges an insert after fsync; after kill -9 every
//     acknowledged row is there. Redis (redis-server) appends to its log and
//     syncs it every second. The in-process Redis keeps nothing: Durable says so.
//
// What is not: neither restarts by itself, and nothing here replicates.
//
// ClickHouse runs inside a re-execution of the calling program, so that a
// failure in the engine's C++ cannot take the caller with it. Every program
// that calls StartClickHouse must call MaybeRunChild before anything else.
package embedded
