package lab

import (
	"encoding/binary"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// healthPath is the method Check of grpc.health.v1.
const healthPath = "/grpc.health.v1.Health/Check"

// health answers it.
func (l *Lab) health(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor != 2 {
		http.Error(w, "gRPC needs HTTP/2", http.StatusHTTPVersionNotSupported)
		return
	}
	service, err := serviceAsked(r.Body)
	if err != nil {
		grpcStatus(w, "13", err.Error())
		return
	}
	kind, argument, _ := strings.Cut(service, "-")
	switch {
	case kind == "status":
		grpcStatus(w, argument, "as you asked")
	case strings.HasPrefix(service, "late-status-"):
		grpcAnswer(w, serving(1), strings.TrimPrefix(service, "late-status-"))
	case kind == "http":
		http.Error(w, "not gRPC", min(max(atoi(argument), 200), 599))
	case kind == "slow":
		if delay, err := time.ParseDuration(argument); err == nil && l.wait(r.Context(), delay) {
			grpcAnswer(w, serving(1), "0")
		}
	case service == "hang":
		l.hang(w, r)
	default:
		l.healthNamed(w, r, service)
	}
}

func (l *Lab) healthNamed(w http.ResponseWriter, r *http.Request, service string) {
	if status, known := map[string]byte{"": 1, "serving": 1, "not-serving": 2, "service-unknown": 3, "unknown": 0}[service]; known {
		grpcAnswer(w, serving(status), "0")
		return
	}
	if message, known := map[string]string{
		"garbage":    "\x00\x00\x00\x00\x04\xff\xff\xff\xff",
		"compressed": "\x01\x00\x00\x00\x02\x08\x01",
		"two":        serving(1) + serving(2),
		"empty":      "",
		"huge":       "\x00\xff\xff\xff\xff\x08\x01",
	}[service]; known {
		grpcAnswer(w, message, "0")
		return
	}
	switch service {
	case "wrong-type":
		w.Header().Set("Content-Type", "text/html")
		ok(w, r)
	case "no-status":
		grpcAnswer(w, serving(1), "")
	case "cut":
		w.Header().Set("Content-Type", "application/grpc")
		_, _ = io.WriteString(w, serving(1)[:4])
		_ = http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler) // reset the stream
	default:
		grpcStatus(w, "5", "unknown service")
	}
}

// serving is a HealthCheckResponse with its length before it.
func serving(status byte) string { return string([]byte{0, 0, 0, 0, 2, 0x08, status}) }

// grpcAnswer sends a message and, unless it is empty, a status in the trailers.
func grpcAnswer(w http.ResponseWriter, message, status string) {
	w.Header().Set("Content-Type", "application/grpc")
	w.WriteHeader(http.StatusOK)
	_, _ = io.WriteString(w, message)
	_ = http.NewResponseController(w).Flush()
	if status != "" {
		w.Header().Set(http.TrailerPrefix+"Grpc-Status", status)
	}
}

// grpcStatus is an answer of headers alone.
func grpcStatus(w http.ResponseWriter, status, message string) {
	w.Header().Set("Content-Type", "application/grpc")
	w.Header().Set("Grpc-Status", status)
	w.Header().Set("Grpc-Message", message)
	w.WriteHeader(http.StatusOK)
}

// serviceAsked reads the one field of a HealthCheckRequest.
func serviceAsked(body io.Reader) (string, error) {
	content, err := io.ReadAll(io.LimitReader(body, 4096))
	if err != nil {
		return "", err
	}
	if len(content) < 5 || content[0] != 0 || int(binary.BigEndian.Uint32(content[1:])) != len(content)-5 {
		return "", fmt.Errorf("not one gRPC message: %x", content)
	}
	message := content[5:]
	if len(message) == 0 {
		return "", nil
	}
	size, n := binary.Uvarint(message[1:])
	if message[0] != 0x0a || n <= 0 || uint64(len(message)-1-n) != size {
		return "", fmt.Errorf("not a HealthCheckRequest: %x", message)
	}
	return string(message[1+n:]), nil
}
