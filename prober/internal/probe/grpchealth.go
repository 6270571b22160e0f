package probe

import (
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protowire"

	"github.com/probefleet/probefleet/internal/uptime"
)

// The messages of https://github.com/grpc/grpc-proto/blob/master/grpc/health/v1/health.proto
// have one field each, with the number 1: the name of the service, and its status.
const healthField protowire.Number = 1

// serving names the states of a service, in the order of their numbers.
var serving = [...]string{"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"}

// grpcCodes names the codes of grpc-status (https://github.com/grpc/grpc/blob/master/doc/statuscodes.md).
var grpcCodes = [...]string{
	"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED", "RESOURCE_EXHAUSTED",
	"FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED",
}

// healthRequest is a HealthCheckRequest with its length before it, uncompressed
// (https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md).
func healthRequest(service string) []byte {
	var message []byte
	if service != "" {
		message = protowire.AppendTag(message, healthField, protowire.BytesType)
		message = protowire.AppendString(message, service)
	}
	return append(binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message))), message...)
}

// sawReply keeps an answer, its trailers among the headers.
func (s *sighting) sawReply(r *httpReply) {
	s.Protocol, s.Status, s.Header = "HTTP/2", r.status, r.header
	s.statusLine = strings.TrimSpace(fmt.Sprint(r.status, " ", http.StatusText(r.status)))
	maps.Copy(s.Header, r.trailer)
}

// judge reads what the server says of its health.
func (v *grpcVisitor) judge(r *httpReply, s *sighting) trouble {
	kind := s.Header.Get("Content-Type")
	switch {
	case r.status != http.StatusOK:
		return failed(uptime.FailureStatusCode, "answered "+s.statusLine+" instead of a gRPC status")
	case kind != "application/grpc" && !strings.HasPrefix(kind, "application/grpc+") && !strings.HasPrefix(kind, "application/grpc;"):
		return failed(uptime.FailureProtocol, "the answer is no gRPC: its type is "+strconv.Quote(s.text(kind, maxShownWord)))
	}
	text := s.Header.Get("Grpc-Status")
	if text == "" {
		return failed(uptime.FailureProtocol, "the answer has no grpc-status")
	}
	code, err := strconv.ParseUint(text, 10, 31)
	if err != nil {
		return failed(uptime.FailureProtocol, "the grpc-status is no number: "+strconv.Quote(s.text(text, maxShownWord)))
	}
	if code != 0 {
		return v.refused(code, s)
	}
	status, err := healthStatus(r.body)
	if err != nil {
		return failed(uptime.FailureProtocol, "the answer is no HealthCheckResponse: "+err.Error())
	}
	if status == 1 {
		return trouble{}
	}
	state := strconv.FormatUint(status, 10)
	if status < uint64(len(serving)) {
		state = serving[status]
	}
	return failed(uptime.FailureStatusCode, v.subject()+" is "+state+", expected SERVING")
}

// refused says what a status other than OK means.
func (v *grpcVisitor) refused(code uint64, s *sighting) trouble {
	name := "grpc-status " + strconv.FormatUint(code, 10)
	if code < uint64(len(grpcCodes)) {
		name += " (" + grpcCodes[code] + ")"
	}
	switch code {
	case 5:
		name += ": the server does not know the health of " + v.subject()
	case 12:
		name += ": the server has no health service"
	}
	if message, err := url.PathUnescape(s.Header.Get("Grpc-Message")); err == nil && message != "" {
		name += ": " + s.text(message, maxShownWord)
	}
	return failed(uptime.FailureStatusCode, name)
}

func (v *grpcVisitor) subject() string {
	if v.service == "" {
		return "the server"
	}
	return "the service " + v.service
}

// healthStatus reads the one message of a body, and the status in it. Fields that are not
// known are passed over, and of a field that is there twice the last counts (protobuf's rules).
func healthStatus(body []byte) (uint64, error) {
	if len(body) < 5 {
		return 0, errors.New("the message is missing")
	}
	size, message := binary.BigEndian.Uint32(body[1:]), body[5:]
	switch {
	case body[0] != 0:
		return 0, errors.New("it is compressed, which nobody asked for")
	case uint64(size) > uint64(len(message)):
		return 0, fmt.Errorf("a message of %d bytes is announced, and %d came", size, len(message))
	case uint64(size) < uint64(len(message)):
		return 0, errors.New("more than one message came")
	}
	var status uint64
	for len(message) > 0 {
		number, kind, n := protowire.ConsumeTag(message)
		if n < 0 {
			return 0, errors.New("it is no protobuf")
		}
		message = message[n:]
		if number == healthField && kind == protowire.VarintType {
			status, n = protowire.ConsumeVarint(message)
		} else {
			n = protowire.ConsumeFieldValue(number, kind, message)
		}
		if n < 0 {
			return 0, errors.New("it is no protobuf")
		}
		message = message[n:]
	}
	return status, nil
}
