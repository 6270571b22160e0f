// Package fanout measures how the live feed reaches many browsers: what a websocket costs the
// node, how long after a result was announced its delta is read, and how soon readers that
// were all cut off at once are back without a gap. The node is the real program with real
// stores; the readers are sockets of the test's process, so both share the machine's cores.
// `make bench-live` runs it.
package fanout
