//go:build !failpoints

package failpoint

// Hit does nothing: this binary has no failpoints.
func Hit(string) {}
