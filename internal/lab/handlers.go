package lab

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strconv"
	"time"
)

// paths is the table of behaviours.
func (l *Lab) paths() *http.ServeMux {
	mux := http.NewServeMux()
	mux.HandleFunc("/{$}", ok)
	mux.HandleFunc("/ok", ok)
	mux.HandleFunc("/n/", ok)
	mux.HandleFunc("/status/{code}", status)
	mux.HandleFunc("/slow/{delay}", l.slow)
	mux.HandleFunc("/flap/{period}", flap)
	mux.HandleFunc("/hang", l.hang)
	l.bodyPaths(mux)
	l.encodingPaths(mux)
	l.headerPaths(mux)
	l.oddPaths(mux)
	l.redirectPaths(mux)
	demandPaths(mux)
	documentPaths(mux)
	mux.HandleFunc("/ws/{kind}", l.websocket)
	mux.HandleFunc("/dns-query", l.dnsQuery)
	mux.HandleFunc(healthPath, l.health)
	return mux
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

// wire is a connection taken over from net/http, with what it had read of it.
type wire struct {
	net.Conn
	in *bufio.Reader
}

// say writes text. An error ends the behaviour, and nobody else needs it.
func (c *wire) say(text string) error {
	_, err := io.WriteString(c.Conn, text)
	return err
}

// raw makes a handler of a function that writes to the connection itself. It is
// closed in good order afterwards, unless f ended it otherwise.
func (l *Lab) raw(f func(c *wire, r *http.Request)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		c, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		below := bare(c) // closing it cannot wait for a TLS client that does not read
		defer below.Close()
		if !l.hold(below) {
			return
		}
		defer l.release(below)
		f(&wire{Conn: c, in: buffered.Reader}, r)
		part(c)
	}
}

// says is a raw answer that is always the same.
func (l *Lab) says(answer string) http.HandlerFunc {
	return l.raw(func(c *wire, _ *http.Request) { _ = c.say(answer) })
}

// resets is a raw answer with a reset behind it.
func (l *Lab) resets(answer string) http.HandlerFunc {
	return l.raw(func(c *wire, _ *http.Request) { _ = c.say(answer); reset(c.Conn) })
}

// withoutEnd says opening once and then more, until the client leaves.
func (l *Lab) withoutEnd(opening, more string) http.HandlerFunc {
	return l.raw(func(c *wire, r *http.Request) {
		frugal(r)
		for err := c.say(opening); err == nil; {
			err = c.say(more)
		}
	})
}

// frugal keeps the kernel from taking much more than the client reads, so that
// SentTo tells how much that was.
func frugal(r *http.Request) {
	if c := connOf(r); c != nil {
		_ = c.SetWriteBuffer(32 << 10)
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
func number(r *http.Request, name string) int { return atoi(r.PathValue(name)) }

func atoi(text string) int {
	n, _ := strconv.Atoi(text)
	return min(max(n, 0), 1<<30)
}

// zeros reads as zero bytes, without end.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}
