package probe

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"io"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// firstWrite keeps what a server says first, which has its random number in it.
type firstWrite struct {
	net.Conn
	first []byte
}

func (c *firstWrite) Write(p []byte) (int, error) {
	if c.first == nil {
		c.first = append(c.first, p...)
	}
	return c.Conn.Write(p)
}

// prf is the pseudo-random function of TLS 1.2 (RFC 5246 §5).
func prf(secret, seed []byte, n int) (out []byte) {
	sum := func(parts ...[]byte) []byte {
		h := hmac.New(sha256.New, secret)
		for _, part := range parts {
			h.Write(part)
		}
		return h.Sum(nil)
	}
	for a := sum(seed); len(out) < n; a = sum(a) {
		out = append(out, sum(a, seed)...)
	}
	return out[:n]
}

// helloRequest is the record with which a server that has sent its Finished and nothing
// since asks for another handshake (RFC 5246 §7.4.1.1), over AES-128-GCM (RFC 5288 §3).
// crypto/tls has no way to send one.
func helloRequest(t *testing.T, keyLog string, serverHello []byte) []byte {
	fields := strings.Fields(keyLog) // CLIENT_RANDOM, that, the master secret
	if len(fields) < 3 || len(serverHello) < 43 {
		t.Errorf("no keys: %q", keyLog)
		return nil
	}
	clientRandom, _ := hex.DecodeString(fields[1])
	master, _ := hex.DecodeString(fields[2])
	seed := append(append([]byte("key expansion"), serverHello[11:43]...), clientRandom...)
	keys := prf(master, seed, 2*16+2*4)
	block, err := aes.NewCipher(keys[16:32]) // the server's
	if err != nil {
		t.Error(err)
		return nil
	}
	sealing, _ := cipher.NewGCM(block)
	sequence := binary.BigEndian.AppendUint64(nil, 1) // its Finished was 0
	about := append(append([]byte{}, sequence...), 22, 3, 3, 0, 4)
	sealed := sealing.Seal(nil, append(append([]byte{}, keys[36:40]...), sequence...), []byte{0, 0, 0, 0}, about)
	record := append([]byte{22, 3, 3, 0, byte(8 + len(sealed))}, sequence...)
	return append(record, sealed...)
}

// A server that wants the handshake again, after it has the request, is not indulged.
func TestRenegotiationIsRefused(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	certificate, err := l.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	var asked atomic.Int64
	at := serve(t, func(c *net.TCPConn) {
		keyLog, wire := &strings.Builder{}, &firstWrite{Conn: c}
		secure := tls.Server(wire, &tls.Config{
			Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS12, MaxVersion: tls.VersionTLS12,
			CipherSuites: []uint16{tls.TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256, tls.TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256}, KeyLogWriter: keyLog,
		})
		if _, err := secure.Read(make([]byte, 512)); err != nil {
			t.Error(err)
			return
		}
		asked.Add(1) // before the client can answer
		if _, err := c.Write(helloRequest(t, keyLog.String(), wire.first)); err != nil {
			t.Error(err)
		}
		_, _ = io.Copy(io.Discard, c)
	})
	check := checkOf("https://" + at + "/")
	check.Timeout = hang
	begin := time.Now()
	o := New(options(l)).Look(t.Context(), check)
	if o.Status != uptime.StatusDown || o.Failure != uptime.FailureProtocol || o.Message != "tls: no renegotiation" || asked.Load() != 1 || time.Since(begin) >= hang {
		t.Errorf("asked %d times: %+v", asked.Load(), o)
	}
}
