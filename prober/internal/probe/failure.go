package probe

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/textproto"
	"os"
	"syscall"

	"github.com/probefleet/probefleet/internal/guard"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/prober/internal/resolve"
)

// lookupTrouble tells what the target's zone says from our resolver's silence.
func lookupTrouble(err error) trouble {
	if missing, ok := errors.AsType[*resolve.NotFound](err); ok {
		return failed(uptime.FailureDNS, missing.Error())
	}
	if broken, ok := errors.AsType[*resolve.Broken](err); ok {
		return failed(uptime.FailureDNS, broken.Error())
	}
	return unknown(uptime.ReasonProbeDNS, "the prober's resolver: "+err.Error())
}

// dialTrouble reads why no connection came about.
func dialTrouble(err error) trouble {
	switch {
	case errors.Is(err, guard.ErrBlocked):
		return unknown(uptime.ReasonBlockedAddress, guard.ErrBlocked.Error())
	case isTimeout(err):
		return failed(uptime.FailureConnectTimeout, "no connection within the timeout")
	case errors.Is(err, syscall.ECONNREFUSED):
		return failed(uptime.FailureConnectRefused, "connection refused")
	case errors.Is(err, syscall.ECONNRESET):
		return failed(uptime.FailureReset, "connection reset while connecting")
	case errors.Is(err, syscall.EHOSTUNREACH):
		return failed(uptime.FailureConnectTimeout, "no route to the host")
	case errors.Is(err, syscall.ENETUNREACH), errors.Is(err, syscall.ENETDOWN):
		return unknown(uptime.ReasonProbeBlind, "the prober has no route to the target's network")
	}
	return unknown(uptime.ReasonInternal, "connecting: "+rootCause(err))
}

// asRejected finds the certificates that were not believed.
func asRejected(err error) (*tls.CertificateVerificationError, bool) {
	rejected, ok := errors.AsType[*tls.CertificateVerificationError](err)
	return rejected, ok && len(rejected.UnverifiedCertificates) > 0
}

// handshakeTrouble reads why TLS was not agreed on.
func handshakeTrouble(err error) trouble {
	if isTimeout(err) {
		return failed(uptime.FailureTimeout, "no TLS handshake within the timeout")
	}
	if isReset(err) {
		return failed(uptime.FailureReset, "connection reset during the TLS handshake")
	}
	if invalid, ok := errors.AsType[x509.CertificateInvalidError](err); ok {
		if invalid.Reason == x509.Expired {
			return failed(uptime.FailureTLSExpired, invalid.Error())
		}
		return failed(uptime.FailureTLSUntrusted, invalid.Error())
	}
	if name, ok := errors.AsType[x509.HostnameError](err); ok {
		return failed(uptime.FailureTLSName, name.Error())
	}
	if authority, ok := errors.AsType[x509.UnknownAuthorityError](err); ok {
		return failed(uptime.FailureTLSUntrusted, authority.Error())
	}
	if _, ok := errors.AsType[x509.SystemRootsError](err); ok {
		return unknown(uptime.ReasonInternal, "the prober has no root certificates")
	}
	if certificate, ok := errors.AsType[*tls.CertificateVerificationError](err); ok {
		return failed(uptime.FailureTLSUntrusted, certificate.Error())
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return failed(uptime.FailureTLSOther, "connection closed during the TLS handshake")
	}
	return failed(uptime.FailureTLSOther, err.Error())
}

// answerTrouble reads why the answer did not arrive whole.
func answerTrouble(err error, doing string) trouble {
	switch {
	case asTooLarge(err):
		return failed(uptime.FailureTooLarge, err.Error())
	case isAlert(err): // with TLS 1.3 a server may object after our handshake is done
		return failed(uptime.FailureTLSOther, err.Error())
	case isTimeout(err):
		return failed(uptime.FailureTimeout, "timed out "+doing)
	case isReset(err):
		return failed(uptime.FailureReset, "connection reset "+doing)
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return failed(uptime.FailureReset, "connection closed "+doing)
	}
	if _, ok := errors.AsType[textproto.ProtocolError](err); ok { // it quotes what may be secret
		return failed(uptime.FailureProtocol, "malformed headers")
	}
	return failed(uptime.FailureProtocol, rootCause(err))
}

func asTooLarge(err error) bool {
	_, ok := errors.AsType[tooLarge](err)
	return ok
}

func isAlert(err error) bool {
	op, ok := errors.AsType[*net.OpError](err)
	return ok && op.Op == "remote error" // so crypto/tls calls an alert it was sent
}

func isTimeout(err error) bool {
	var network net.Error
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) || errors.Is(err, syscall.ETIMEDOUT) ||
		errors.As(err, &network) && network.Timeout()
}

func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNABORTED)
}

// rootCause drops the addresses that net wraps around an error.
func rootCause(err error) string {
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Err != nil {
		return op.Err.Error()
	}
	return err.Error()
}
