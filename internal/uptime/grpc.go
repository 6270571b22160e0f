package uptime

import "regexp"

var (
	grpcStatus = regexp.MustCompile(`^grpc-status (\d+)(?: \(([A-Z_]+)\))?`)
	grpcHealth = regexp.MustCompile(` is ([A-Z_]+|\d+), expected SERVING$`)
)

// GRPCWord is what a gRPC health check came to, in a word or two: what a prober says of it
// at length. The HTTP status says only that there was an answer.
func GRPCWord(message string) string {
	if found := grpcStatus.FindStringSubmatch(message); found != nil {
		if found[2] == "" {
			return "gRPC status " + found[1]
		}
		return "gRPC status " + found[1] + " " + found[2]
	}
	if found := grpcHealth.FindStringSubmatch(message); found != nil {
		return "gRPC " + found[1]
	}
	return "gRPC health check failed"
}

// Said is what the answer to a check of a kind said where its HTTP status does not tell: 200 is
// what every answer over gRPC has. "" when the status tells, or nothing is known.
func (r Result) Said(kind Kind) string {
	const answered = 200
	if kind != KindGRPC || r.Failure != FailureStatusCode || r.HTTPStatus != answered {
		return ""
	}
	return GRPCWord(r.Message)
}
