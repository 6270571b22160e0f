package lab

import (
	"encoding/base64"
	"maps"
	"net/http"
	"slices"
	"strings"
)

func (l *Lab) oddPaths(mux *http.ServeMux) {
	for name, answer := range oddAnswers() {
		mux.HandleFunc("/odd/"+name, l.says(answer))
	}
	mux.HandleFunc("/raw/{end}/{bytes}", l.rawAnswer())
}

// Odd lists the names under /odd, each an answer of its own.
func Odd() []string { return slices.Sorted(maps.Keys(oddAnswers())) }

// rawAnswer says what the path has.
func (l *Lab) rawAnswer() http.HandlerFunc {
	return l.raw(func(c *wire, r *http.Request) {
		answer, err := base64.RawURLEncoding.DecodeString(strings.TrimRight(r.PathValue("bytes"), "="))
		if err != nil {
			answer = []byte("HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\nwant base64url\n")
		}
		if c.say(string(answer)) != nil {
			return
		}
		switch r.PathValue("end") {
		case "reset":
			reset(c.Conn)
		case "hang":
			swallow(c.Conn)
		}
	})
}

// oddAnswers are answers that break a rule of HTTP, or keep to one that few know.
func oddAnswers() map[string]string {
	all := map[string]string{}
	for _, some := range []map[string]string{oddStatusLines(), oddHeaders(), oddLengths(), oddChunks(), oddMeanings()} {
		maps.Copy(all, some)
	}
	return all
}

// oddStatusLines: RFC 9112 §2.2, §2.3 and §4.
func oddStatusLines() map[string]string {
	const rest = "\r\nContent-Length: 3\r\n\r\nok\n"
	return map[string]string{
		"no-reason":     "HTTP/1.1 200" + rest, // not even the space before it
		"empty-reason":  "HTTP/1.1 200 " + rest,
		"long-reason":   "HTTP/1.1 200 " + strings.Repeat("OK ", 20_000) + rest,
		"bytes-reason":  "HTTP/1.1 200 \xff\x00\x1b[2J" + rest,
		"http10":        "HTTP/1.0 200 OK\r\n\r\nok\n",
		"http10-alive":  "HTTP/1.0 200 OK\r\nConnection: keep-alive" + rest,
		"http10-chunks": "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nok\n\r\n0\r\n\r\n",
		"http09":        "<p>ok</p>\n",
		"http2":         "HTTP/2 200" + rest,
		"http99":        "HTTP/9.9 200 OK" + rest,
		"lower-case":    "http/1.1 200 OK" + rest,
		"icy":           "ICY 200 OK" + rest,
		"code-99":       "HTTP/1.1 99 Low" + rest,
		"code-1000":     "HTTP/1.1 1000 High" + rest,
		"code-600":      "HTTP/1.1 600 Strange" + rest,
		"code-negative": "HTTP/1.1 -200 OK" + rest,
		"code-word":     "HTTP/1.1 two OK" + rest,
		"two-spaces":    "HTTP/1.1  200 OK" + rest,
		"blank-first":   "\r\n\r\nHTTP/1.1 200 OK" + rest,
		"bare-lf":       strings.ReplaceAll("HTTP/1.1 200 OK"+rest, "\r\n", "\n"),
		"bare-cr":       "HTTP/1.1 200 OK\rContent-Length: 3\r\rok\n",
		"no-headers":    "HTTP/1.1 200 OK\r\n\r\nok\n",
	}
}

// oddHeaders: RFC 9112 §5, RFC 9110 §5.5.
func oddHeaders() map[string]string {
	all := map[string]string{
		"nul-value":          "X-A: a\x00b",
		"control-value":      "X-A: a\x01\x1b[2Jb",
		"bytes-value":        "X-A: \xff\xfe\xc3",
		"cr-value":           "X-A: a\rSet-Cookie: b=c",
		"markup-value":       "X-A: <script>alert(1)</script>",
		"space-in-name":      "X A: b",
		"space-before-colon": "X-A : b",
		"bytes-name":         "X-\xff: b",
		"empty-name":         ": b",
		"empty-value":        "X-A:",
		"no-colon":           "X-A b",
		"fold":               "X-A: a\r\n b", // obs-fold, RFC 9112 §5.2
		"fold-first":         " X-A: a",
		"pseudo-name":        ":status: 500",
	}
	for name, line := range all {
		all[name] = "HTTP/1.1 200 OK\r\n" + line + "\r\nContent-Length: 3\r\n\r\nok\n"
	}
	return all
}

// oddLengths: RFC 9112 §6.
func oddLengths() map[string]string {
	all := map[string]string{
		"length-differs":     "Content-Length: 3\r\nContent-Length: 4",
		"length-twice":       "Content-Length: 3\r\nContent-Length: 3", // allowed
		"length-list":        "Content-Length: 3, 3",
		"length-negative":    "Content-Length: -3",
		"length-plus":        "Content-Length: +3",
		"length-hex":         "Content-Length: 0x3",
		"length-word":        "Content-Length: three",
		"length-empty":       "Content-Length:",
		"length-overflow":    "Content-Length: 99999999999999999999",
		"length-and-chunked": "Content-Length: 3\r\nTransfer-Encoding: chunked",
		"coding-unknown":     "Transfer-Encoding: rot13",
		"coding-gzip":        "Transfer-Encoding: gzip, chunked",
		"coding-twice":       "Transfer-Encoding: chunked, chunked",
		"coding-last":        "Transfer-Encoding: chunked, identity",
		"coding-tab":         "Transfer-Encoding: \tchunked",
	}
	for name, line := range all {
		content := "ok\n"
		if strings.Contains(line, "Transfer-Encoding") {
			content = "3\r\nok\n\r\n0\r\n\r\n"
		}
		all[name] = "HTTP/1.1 200 OK\r\n" + line + "\r\n\r\n" + content
	}
	return all
}

// oddChunks: RFC 9112 §7.1.
func oddChunks() map[string]string {
	const rest = "\r\nok\n\r\n0\r\n\r\n"
	return map[string]string{
		"chunk-word":      chunked + "three" + rest,
		"chunk-empty":     chunked + "" + rest,
		"chunk-negative":  chunked + "-3" + rest,
		"chunk-0x":        chunked + "0x3" + rest,
		"chunk-overflow":  chunked + "1ffffffffffffffff" + rest,
		"chunk-huge":      chunked + "7fffffffffffffff" + rest,
		"chunk-space":     chunked + "3 " + rest,
		"chunk-short":     chunked + "2" + rest, // its end is where data goes on
		"chunk-long":      chunked + "9" + rest,
		"chunk-bare-lf":   chunked + "3\nok\n\n0\n\n",
		"chunk-extension": chunked + `3;a=b;c="d e"` + rest, // allowed
		"chunk-unended":   chunked + "3\r\nok\n\r\n",
		"chunk-last-cut":  chunked + "3\r\nok\n\r\n0\r\n",
		"chunk-trailer":   chunked + "3\r\nok\n\r\n0\r\nX-Trailer: late\r\nContent-Length: 9\r\n\r\n",
	}
}

// oddMeanings are answers whose parts do not belong together.
func oddMeanings() map[string]string {
	return map[string]string{
		"body-204":         "HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\nok\n", // RFC 9110 §15.3.5
		"body-304":         "HTTP/1.1 304 Not Modified\r\nContent-Length: 3\r\n\r\nok\n",
		"body-head":        plainOK, // asked with HEAD: a body where none may be (RFC 9110 §9.3.2)
		"switching":        "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n",
		"only-interim":     goOn,
		"garbage-after":    plainOK + "\x00\x01 and more that nobody asked for",
		"answer-after":     plainOK + "HTTP/1.1 500 Internal Server Error\r\nContent-Length: 0\r\n\r\n",
		"upgrade-required": "HTTP/1.1 426 Upgrade Required\r\nUpgrade: HTTP/2.0\r\nConnection: Upgrade\r\nContent-Length: 0\r\n\r\n",
		"frames":           "\x00\x00\x00\x04\x00\x00\x00\x00\x00", // an HTTP/2 SETTINGS frame to a client of HTTP/1.1
	}
}
