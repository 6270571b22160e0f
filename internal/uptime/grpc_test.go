package uptime

import "testing"

func TestGRPCWord(t *testing.T) {
	t.Parallel()
	for message, want := range map[string]string{
		"grpc-status 14 (UNAVAILABLE): as you asked": "gRPC status 14 UNAVAILABLE",
		"grpc-status 99": "gRPC status 99",
		"the server is NOT_SERVING, expected SERVING":     "gRPC NOT_SERVING",
		"the service a.B is 7, expected SERVING":          "gRPC 7",
		"the service a is b is UNKNOWN, expected SERVING": "gRPC UNKNOWN",
		"": "gRPC health check failed",
	} {
		if got := GRPCWord(message); got != want {
			t.Errorf("%q: %q, want %q", message, got, want)
		}
	}
}
