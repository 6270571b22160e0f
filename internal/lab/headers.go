package lab

import (
	"fmt"
	"net/http"
	"strings"
	"time"
)

func (l *Lab) headerPaths(mux *http.ServeMux) {
	mux.HandleFunc("/headers/{size}", headers)
	mux.HandleFunc("/many-headers/{count}", manyHeaders)
	mux.HandleFunc("/header-line/{size}", headerLine)
	mux.HandleFunc("/slow-headers/{count}/{every}", l.slowHeaders())
	mux.HandleFunc("/endless-header", l.withoutEnd("HTTP/1.1 200 OK\r\nX-Filler: ", filler))
	mux.HandleFunc("/endless-headers", l.withoutEnd("HTTP/1.1 200 OK\r\n", "X-Filler: "+filler+"\r\n"))
	mux.HandleFunc("/interim/{count}", l.interim())
	mux.HandleFunc("/endless-interim", l.withoutEnd("", earlyHints))
}

const (
	earlyHints = "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n" // RFC 8297
	goOn       = "HTTP/1.1 100 Continue\r\n\r\n"
	plainOK    = "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nok\n"
)

func headers(w http.ResponseWriter, r *http.Request) {
	const line = 1000
	for i := range min(number(r, "size"), 64<<20)/line + 1 {
		w.Header().Set(fmt.Sprintf("X-Filler-%d", i), strings.Repeat("x", line))
	}
	ok(w, r)
}

func manyHeaders(w http.ResponseWriter, r *http.Request) {
	for range min(number(r, "count"), 1<<20) {
		w.Header().Add("X", "y")
	}
	ok(w, r)
}

func headerLine(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("X-Filler", strings.Repeat("x", min(number(r, "size"), 64<<20)))
	ok(w, r)
}

func (l *Lab) slowHeaders() http.HandlerFunc {
	return l.raw(func(c *wire, r *http.Request) {
		every, err := time.ParseDuration(r.PathValue("every"))
		if err != nil || every <= 0 {
			_ = c.say("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nwant a duration such as 800ms\n")
			return
		}
		if c.say("HTTP/1.1 200 OK\r\nX-Filler: ") == nil && l.dripTo(c, r, number(r, "count"), every) == nil {
			_ = c.say("\r\nContent-Length: 3\r\nConnection: close\r\n\r\nok\n")
		}
	})
}

// interim sends informational answers before the final one (RFC 9110 §15.2).
func (l *Lab) interim() http.HandlerFunc {
	return l.raw(func(c *wire, r *http.Request) {
		for i := range number(r, "count") {
			if c.say([]string{earlyHints, goOn}[i%2]) != nil {
				return
			}
		}
		_ = c.say(plainOK)
	})
}
