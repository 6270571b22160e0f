//go:build bench

package racetrack

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"runtime"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// The server does as little as a server can: it reads a head, answers three bytes and
// closes. It takes plain connections and TLS ones, with an ECDSA P-256 certificate of an
// authority of its own. The plain ones are taken by one thread with four system calls each:
// it shares a core with all that stores and publishes, and must not be what holds up those
// who are measured. It has several addresses, as targets have: of those at one, the kernel keeps
// 4,096 that nobody has accepted yet, and whoever comes then waits a second.

const addresses = 4

// addressOf is one of them.
func addressOf(i int) net.IP { return net.IPv4(127, 0, 0, byte(1+i)) }

const answer = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n"

func serve() int {
	authority, leaf, err := certificates()
	if err != nil {
		return Fail(err)
	}
	var links []string
	for i := range addresses {
		plain, port, err := listenPlain(addressOf(i))
		if err != nil {
			return Fail(err)
		}
		secure, err := tls.Listen("tcp", net.JoinHostPort(addressOf(i).String(), "0"), &tls.Config{Certificates: []tls.Certificate{*leaf}, SessionTicketsDisabled: true, NextProtos: []string{"http/1.1"}})
		if err != nil {
			return Fail(err)
		}
		go acceptPlain(plain)
		go accept(secure)
		links = append(links, fmt.Sprintf("http://%v:%d/ https://%v/", addressOf(i), port, secure.Addr()))
	}
	roots := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: authority})
	if err := os.WriteFile(os.Getenv("RACE_ROOTS"), roots, 0o600); err != nil {
		return Fail(err)
	}
	fmt.Println(strings.Join(links, " "))
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the parent is gone
	return 0
}

func accept(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go reply(conn)
	}
}

func reply(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	head := bufio.NewReaderSize(conn, 1024)
	for {
		line, err := head.ReadSlice('\n')
		if err != nil {
			return
		}
		if len(line) <= 2 {
			_, _ = conn.Write([]byte(answer))
			return
		}
	}
}

// listenPlain gives a socket that connections come from together with their requests.
func listenPlain(at net.IP) (socket, port int, err error) {
	socket, err = unix.Socket(unix.AF_INET, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, 0, err
	}
	err = errors.Join(
		unix.SetsockoptInt(socket, unix.IPPROTO_TCP, unix.TCP_DEFER_ACCEPT, 5),
		unix.SetsockoptTimeval(socket, unix.SOL_SOCKET, unix.SO_RCVTIMEO, &unix.Timeval{Sec: 10}),
		unix.Bind(socket, &unix.SockaddrInet4{Addr: [4]byte(at.To4())}),
		unix.Listen(socket, 4096),
	)
	if err != nil {
		return 0, 0, err
	}
	bound, err := unix.Getsockname(socket)
	if err != nil {
		return 0, 0, err
	}
	return socket, bound.(*unix.SockaddrInet4).Port, nil
}

func acceptPlain(socket int) {
	runtime.LockOSThread()
	head := make([]byte, 4096)
	for {
		conn, _, err := unix.Accept4(socket, unix.SOCK_CLOEXEC)
		if errors.Is(err, unix.EAGAIN) || errors.Is(err, unix.EINTR) || errors.Is(err, unix.ECONNABORTED) { // nobody came
			continue
		}
		if err != nil {
			return
		}
		replyPlain(conn, head)
		_ = unix.Close(conn)
	}
}

func replyPlain(conn int, head []byte) {
	for n := 0; ; {
		more, err := unix.Read(conn, head[n:])
		if n += more; err != nil || more == 0 {
			return
		}
		if bytes.HasSuffix(head[:n], []byte("\r\n\r\n")) {
			_, _ = unix.Write(conn, []byte(answer))
			return
		}
	}
}

func certificates() (authority []byte, leaf *tls.Certificate, err error) {
	signer, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	template := func(serial int64, name string) *x509.Certificate {
		return &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
			KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
		}
	}
	root := template(1, "race authority")
	root.IsCA, root.KeyUsage = true, x509.KeyUsageCertSign
	authority, err = x509.CreateCertificate(rand.Reader, root, root, &signer.PublicKey, signer)
	if err != nil {
		return nil, nil, err
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	server := template(2, "race server")
	for i := range addresses {
		server.IPAddresses = append(server.IPAddresses, addressOf(i))
	}
	server.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}
	der, err := x509.CreateCertificate(rand.Reader, server, root, &key.PublicKey, signer)
	if err != nil {
		return nil, nil, err
	}
	return authority, &tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, nil
}
