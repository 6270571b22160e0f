package embedded

import "testing"

// A client that hangs up while the engine starts says nothing about the engine's port.
func TestPortTaken(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]bool{
		`<Error> executeQuery: Code: 210. DB::Exception: Listen [127.0.0.1]:42479 failed: Poco::Exception. Code: 1000, e.code() = 98, Net Exception: Address already in use: 127.0.0.1:42479 (NETWORK_ERROR)`: true,
		`<Error> executeQuery: Code: 210. DB::NetException: I/O error: Broken pipe, while writing to socket (127.0.0.1:40029 -> 127.0.0.1:59166). (NETWORK_ERROR)`:                                            false,
	} {
		if portTaken(line) != want {
			t.Errorf("taken %v: %s", !want, line)
		}
	}
}

// A port that the system gives to outgoing connections may be somebody's when the
// server that had it is started again.
func TestPortIsBelowThoseForOutgoingConnections(t *testing.T) {
	t.Parallel()
	for range 50 {
		port, err := freePort()
		if err != nil || port < 1024 || port >= 32_768 { // where Linux begins, unless told otherwise
			t.Fatal(port, err)
		}
	}
}
