//go:build race

package probe

// racing is 1 with the race detector.
const racing = 1
