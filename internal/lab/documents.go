package lab

import (
	"crypto/tls"
	"encoding/json"
	"io"
	"net/http"
	"strings"
)

const maxEcho = 1 << 20 // bytes of a request's body that are told

func documentPaths(mux *http.ServeMux) {
	mux.HandleFunc("/echo", echo)
	mux.HandleFunc("/echo/", echo)
	mux.HandleFunc("/text/{text}", text)
	mux.HandleFunc("/json", jsonGiven)
	mux.HandleFunc("/json/{name}", jsonNamed)
}

// Echo is what /echo tells of a request. The body is told up to 1 MiB.
type Echo struct {
	Method   string      `json:"method"`
	Path     string      `json:"path"` // as it was sent
	Query    string      `json:"query"`
	Protocol string      `json:"protocol"`
	Host     string      `json:"host"`
	Remote   string      `json:"remote"`
	Headers  http.Header `json:"headers"` // without Host
	Body     string      `json:"body"`
	TLS      *EchoTLS    `json:"tls,omitempty"`
}

// EchoTLS is what the client's hello led to.
type EchoTLS struct {
	Version      string `json:"version"`
	ServerName   string `json:"server_name"`
	ALPN         string `json:"alpn"`
	Certificates int    `json:"certificates"` // how many the client sent
}

func echo(w http.ResponseWriter, r *http.Request) {
	content, err := io.ReadAll(io.LimitReader(r.Body, maxEcho))
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	told := Echo{
		Method: r.Method, Path: r.URL.EscapedPath(), Query: r.URL.RawQuery, Protocol: r.Proto, Host: r.Host,
		Remote: r.RemoteAddr, Headers: r.Header, Body: string(content),
	}
	if r.TLS != nil {
		told.TLS = &EchoTLS{
			Version: tls.VersionName(r.TLS.Version), ServerName: r.TLS.ServerName,
			ALPN: r.TLS.NegotiatedProtocol, Certificates: len(r.TLS.PeerCertificates),
		}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(told)
}

func text(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	kind := query.Get("type")
	if kind == "" {
		kind = "text/plain; charset=utf-8"
	}
	w.Header().Set("Content-Type", kind)
	for left := atoi(query.Get("after")); left > 0; left -= len(filler) {
		if _, err := io.WriteString(w, filler[:min(left, len(filler))]); err != nil {
			return
		}
	}
	_, _ = io.WriteString(w, r.PathValue("text"))
}

func jsonGiven(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, r.URL.Query().Get("doc"))
}

// jsonNamed gives documents for JSONPath (RFC 9535), and some that are none. Three
// are large: "deep" has 100,000 arrays in one another, "deep-keys" as many
// objects, "wide" as many in one array.
func jsonNamed(w http.ResponseWriter, r *http.Request) {
	document, known := map[string]string{
		"health":    `{"status":"ok","checks":[{"name":"db","up":true,"ms":3.5},{"name":"queue","up":false,"ms":null}],"version":"1.2.3"}`,
		"store":     `{"store":{"book":[{"category":"reference","price":8.95},{"category":"fiction","price":12.99,"isbn":"0-553-21311-3"}],"bicycle":{"color":"red","price":399}}}`,
		"array":     `[1,"two",null,true,{"three":3},[4]]`,
		"text":      `"just text"`,
		"null":      `null`,
		"empty":     ``,
		"numbers":   `{"big":9007199254740993,"huge":1e400,"exact":0.1,"negative":-0,"long":123456789012345678901234567890}`,
		"keys":      `{"":1,"a.b":2,"a b":3,"'":4,"\"":5,"ü":6,"$":7,"__proto__":8}`,
		"twice":     `{"status":"ok","status":"down"}`,
		"truncated": `{"status":"ok","checks":[{"na`,
		"trailing":  `{"status":"ok"} and more`,
		"lines":     "{\"status\":\"ok\"}\n{\"status\":\"down\"}\n",
		"bom":       "\ufeff" + `{"status":"ok"}`,
		"bytes":     "{\"status\":\"\xff\xfe\"}",
		"surrogate": `{"status":"\ud800"}`,
		"html":      `<!doctype html><title>Sign in</title>`, // what a proxy puts in the place of JSON
	}[r.PathValue("name")]
	const many = 100_000
	switch r.PathValue("name") {
	case "deep":
		document, known = strings.Repeat(`[`, many)+strings.Repeat(`]`, many), true
	case "deep-keys":
		document, known = strings.Repeat(`{"a":`, many)+`1`+strings.Repeat(`}`, many), true
	case "wide":
		document, known = `[`+strings.Repeat(`{"a":1},`, many)+`{}]`, true
	}
	if !known {
		http.NotFound(w, r)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, document)
}
