package lab

import (
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

const bombMiB = 256

// handler is the table of behaviours.
func (l *Lab) handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", ok)
	mux.HandleFunc("/ok", ok)
	mux.HandleFunc("/n/", ok)
	mux.HandleFunc("/status/{code}", status)
	mux.HandleFunc("/slow/{delay}", l.slow)
	mux.HandleFunc("/flap/{period}", flap)
	mux.HandleFunc("/hang", l.hang)
	mux.HandleFunc("/drip/{count}/{every}", l.drip)
	mux.HandleFunc("/body/{size}", body)
	mux.HandleFunc("/gzip-bomb", bomb())
	mux.HandleFunc("/headers/{size}", headers)
	mux.HandleFunc("/redirect/{left}", redirect)
	mux.HandleFunc("/redirect-to", redirectTo)
	mux.HandleFunc("/reset", abort(""))
	mux.HandleFunc("/close", abort(""))
	mux.HandleFunc("/cut", abort("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf"))
	mux.HandleFunc("/malformed", abort("this is not HTTP\r\n\r\n"))
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.count(r.URL.Path)
		mux.ServeHTTP(w, r)
	})
}

func ok(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "ok\n") }

func status(w http.ResponseWriter, r *http.Request) {
	code, err := strconv.Atoi(r.PathValue("code"))
	if err != nil || code < 200 || code > 599 {
		http.Error(w, "want /status/200 to /status/599", http.StatusBadRequest)
		return
	}
	w.WriteHeader(code)
}

func (l *Lab) slow(w http.ResponseWriter, r *http.Request) {
	if delay, good := duration(w, r, "delay"); good && l.wait(r.Context(), delay) {
		ok(w, r)
	}
}

func flap(w http.ResponseWriter, r *http.Request) {
	period, good := duration(w, r, "period")
	if !good {
		return
	}
	if time.Now().UnixNano()/int64(period)%2 == 1 {
		w.WriteHeader(http.StatusServiceUnavailable)
		return
	}
	ok(w, r)
}

func (l *Lab) hang(_ http.ResponseWriter, r *http.Request) {
	l.wait(r.Context(), 10*time.Minute)
	panic(http.ErrAbortHandler) // close without an answer
}

func (l *Lab) drip(w http.ResponseWriter, r *http.Request) {
	every, good := duration(w, r, "every")
	if !good {
		return
	}
	control := http.NewResponseController(w)
	for range number(r, "count") {
		if _, err := io.WriteString(w, "."); err != nil || control.Flush() != nil || !l.wait(r.Context(), every) {
			return
		}
	}
}

func body(w http.ResponseWriter, r *http.Request) {
	size := number(r, "size")
	w.Header().Set("Content-Length", strconv.Itoa(size))
	_, _ = io.CopyN(w, zeros{}, int64(size))
}

// bomb answers with a body that is a thousand times its size once decoded: one
// packed MiB of zeros many times over, which gzip reads as a single stream.
func bomb() http.HandlerFunc {
	packed := sync.OnceValue(func() []byte {
		var out bytes.Buffer
		writer := gzip.NewWriter(&out)
		_, _ = io.CopyN(writer, zeros{}, 1<<20)
		_ = writer.Close()
		return out.Bytes()
	})
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Encoding", "gzip")
		for range bombMiB {
			if _, err := w.Write(packed()); err != nil {
				return
			}
		}
	}
}

func headers(w http.ResponseWriter, r *http.Request) {
	const line = 1000
	for i := range number(r, "size")/line + 1 {
		w.Header().Set(fmt.Sprintf("X-Filler-%d", i), strings.Repeat("x", line))
	}
	ok(w, r)
}

func redirect(w http.ResponseWriter, r *http.Request) {
	to := "/ok"
	if left := number(r, "left"); left > 1 {
		to = "/redirect/" + strconv.Itoa(left-1)
	}
	http.Redirect(w, r, to, http.StatusFound)
}

func redirectTo(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Location", r.URL.Query().Get("url"))
	w.WriteHeader(http.StatusFound)
}

// abort answers with raw bytes and ends the connection: by a reset on /reset,
// orderly elsewhere.
func abort(raw string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		defer conn.Close()
		_, _ = io.WriteString(conn, raw)
		if r.URL.Path == "/reset" {
			reset(conn)
		}
	}
}

// reset makes the coming close a TCP reset.
func reset(conn net.Conn) {
	if secure, wrapped := conn.(*tls.Conn); wrapped {
		conn = secure.NetConn()
	}
	if tcp, is := conn.(*net.TCPConn); is {
		_ = tcp.SetLinger(0)
		_ = tcp.Close()
	}
}

func duration(w http.ResponseWriter, r *http.Request, name string) (time.Duration, bool) {
	d, err := time.ParseDuration(r.PathValue(name))
	if err != nil || d <= 0 {
		http.Error(w, "want a duration such as 800ms", http.StatusBadRequest)
		return 0, false
	}
	return d, true
}

// number reads a size from the path, capped where it stops making sense.
func number(r *http.Request, name string) int {
	n, _ := strconv.Atoi(r.PathValue(name))
	return min(max(n, 0), 1<<30)
}

// zeros reads as zero bytes, without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
