package probe

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/probefleet/probefleet/internal/uptime"
)

// padder writes records of TLS 1.3 that hold one byte and all the padding there may be (RFC
// 8446 §5.4).
type padder struct {
	conn net.Conn
	aead cipher.AEAD
	iv   []byte
	seq  uint64
}

// padding takes a server's side over after the handshake.
func padding(t *testing.T, conn net.Conn, certificate tls.Certificate) *padder {
	var keys bytes.Buffer
	secure := tls.Server(conn, &tls.Config{
		Certificates: []tls.Certificate{certificate}, KeyLogWriter: &keys, SessionTicketsDisabled: true, MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1", "h2"},
	})
	if err := secure.Handshake(); err != nil {
		t.Error(err)
		return nil
	}
	_, _ = secure.Read(make([]byte, 4<<10))
	_, line, _ := strings.Cut(keys.String(), "SERVER_TRAFFIC_SECRET_0 ")
	line, _, _ = strings.Cut(line, "\n")
	_, text, _ := strings.Cut(line, " ")
	secret, err := hex.DecodeString(text)
	if err != nil {
		t.Error(err)
		return nil
	}
	expand := func(label string, size int) []byte {
		label = "tls13 " + label
		out, err := hkdf.Expand(sha256.New, secret, string([]byte{0, byte(size), byte(len(label))})+label+"\x00", size)
		if err != nil {
			t.Error(err)
		}
		return out
	}
	aead, err := suite(secure.ConnectionState().CipherSuite, expand)
	if err != nil {
		t.Error(err)
		return nil
	}
	return &padder{conn: conn, aead: aead, iv: expand("iv", 12)}
}

// suite is the cipher of a connection: the second is what both sides prefer where there is no AES in
// hardware.
func suite(id uint16, expand func(label string, size int) []byte) (cipher.AEAD, error) {
	switch id {
	case tls.TLS_AES_128_GCM_SHA256:
		block, err := aes.NewCipher(expand("key", 16))
		if err != nil {
			return nil, err
		}
		return cipher.NewGCM(block)
	case tls.TLS_CHACHA20_POLY1305_SHA256:
		return chacha20poly1305.New(expand("key", chacha20poly1305.KeySize))
	}
	return nil, errors.New("this peer does not write " + tls.CipherSuiteName(id))
}

func (p *padder) write(content string, padded int) (int, error) {
	inner := append(append([]byte(content), 23), make([]byte, padded)...)
	head := []byte{23, 3, 3, 0, 0}
	binary.BigEndian.PutUint16(head[3:], uint16(len(inner)+p.aead.Overhead()))
	nonce := bytes.Clone(p.iv)
	for i := range 8 {
		nonce[11-i] ^= byte(p.seq >> (8 * i))
	}
	p.seq++
	return p.conn.Write(p.aead.Seal(head, nonce, inner, head))
}

// What comes over TLS is bounded on the wire: padding counts.
func TestTLSPaddingIsBounded(t *testing.T) {
	t.Parallel()
	l := startLab(t)
	certificate, err := l.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	const padded = 16<<10 - 1
	at := serve(t, func(conn *net.TCPConn) {
		p := padding(t, conn, certificate)
		if p == nil {
			return
		}
		_, err := p.write("HTTP/1.1 200 OK\r\n\r\n", 0)
		for err == nil {
			_, err = p.write("x", padded)
		}
	})
	check := checkOf("https://" + at)
	check.Timeout = 4 * time.Second
	o := New(options(l)).Look(t.Context(), check)
	if read := int(o.Seen.BodyBytes) * padded; read > 5<<20 { // what else was taken lies in buffers of the system
		t.Errorf("%d bytes were read", read)
	}
	verify(t, o, uptime.FailureTooLarge, 200)
}
