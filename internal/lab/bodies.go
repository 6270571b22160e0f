package lab

import (
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

const (
	halfBody = "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nhalf"
	halfHead = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-Ha"
	chunked  = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
	tenGB    = "10000000000"
)

func (l *Lab) bodyPaths(mux *http.ServeMux) {
	mux.HandleFunc("/body/{size}", body)
	mux.HandleFunc("/chunked/{size}", chunkedBody)
	mux.HandleFunc("/until-close/{size}", l.untilClose())
	mux.HandleFunc("/length/{declared}/{size}", l.wrongLength())
	mux.HandleFunc("/drip/{count}/{every}", l.drip)
	mux.HandleFunc("/endless/chunked", endlessBody)
	mux.HandleFunc("/endless/length", l.withoutEnd("HTTP/1.1 200 OK\r\nContent-Length: "+tenGB+"\r\n\r\n", filler))
	mux.HandleFunc("/endless/close", l.withoutEnd("HTTP/1.1 200 OK\r\n\r\n", filler))
	mux.HandleFunc("/endless-chunk", l.withoutEnd(chunked+"3;x=", filler))
	mux.HandleFunc("/endless-trailers", l.withoutEnd(chunked+"3\r\nok\n\r\n0\r\n", "X-Trailer: "+filler+"\r\n"))
	mux.HandleFunc("/reset", l.resets(""))
	mux.HandleFunc("/close", l.says(""))
	mux.HandleFunc("/malformed", l.says("this is not HTTP\r\n\r\n"))
	mux.HandleFunc("/cut", l.says(halfBody))
	mux.HandleFunc("/cut-headers", l.says(halfHead))
	mux.HandleFunc("/cut-rudely", l.raw(func(c *wire, _ *http.Request) { _ = c.say(halfBody); part(bare(c.Conn)) }))
	mux.HandleFunc("/reset-body", l.resets(halfBody))
	mux.HandleFunc("/reset-headers", l.resets(halfHead))
}

// filler is what answers without meaning are made of.
const filler = "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx" // 128

func body(w http.ResponseWriter, r *http.Request) {
	size := number(r, "size")
	w.Header().Set("Content-Length", strconv.Itoa(size))
	_, _ = io.CopyN(w, zeros{}, int64(size))
}

func chunkedBody(w http.ResponseWriter, r *http.Request) {
	if http.NewResponseController(w).Flush() == nil { // before it can know a length
		_, _ = io.CopyN(w, zeros{}, int64(number(r, "size")))
	}
}

func (l *Lab) untilClose() http.HandlerFunc {
	return l.raw(func(c *wire, r *http.Request) {
		if c.say("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n") == nil {
			_, _ = io.CopyN(c.Conn, zeros{}, int64(number(r, "size")))
		}
	})
}

func (l *Lab) wrongLength() http.HandlerFunc {
	return l.raw(func(c *wire, r *http.Request) {
		if c.say(fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", number(r, "declared"))) == nil {
			_, _ = io.CopyN(c.Conn, zeros{}, int64(number(r, "size")))
		}
	})
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

func endlessBody(w http.ResponseWriter, r *http.Request) {
	frugal(r)
	more := strings.Repeat(filler, 32)
	for {
		if _, err := io.WriteString(w, more); err != nil {
			return
		}
	}
}

// dripTo writes count times x, one every so often.
func (l *Lab) dripTo(c *wire, r *http.Request, count int, every time.Duration) error {
	for range count {
		if err := c.say("x"); err != nil {
			return err
		}
		if !l.wait(r.Context(), every) {
			return errClosed
		}
	}
	return nil
}
