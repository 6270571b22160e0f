package lab

import (
	"net/http"
	"strconv"
	"strings"
)

func (l *Lab) redirectPaths(mux *http.ServeMux) {
	mux.HandleFunc("/redirect/{left}", redirect)
	mux.HandleFunc("/redirect/{code}/{left}", redirectBy)
	mux.HandleFunc("/redirect-to", redirectTo)
	mux.HandleFunc("/redirect-slow/{left}/{delay}", l.redirectSlow)
	mux.HandleFunc("/redirect-loop", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/redirect-loop", http.StatusFound) })
	mux.HandleFunc("/redirect-schemes/{left}", l.redirectSchemes)
	mux.HandleFunc("/redirect-odd/{kind}", redirectOdd)
}

func redirect(w http.ResponseWriter, r *http.Request) {
	to := "/ok"
	if left := number(r, "left"); left > 1 {
		to = "/redirect/" + strconv.Itoa(left-1)
	}
	http.Redirect(w, r, to, http.StatusFound)
}

// redirectSlow makes people wait at every hop, and at the end.
func (l *Lab) redirectSlow(w http.ResponseWriter, r *http.Request) {
	delay, ok := duration(w, r, "delay")
	if !ok || !l.wait(r.Context(), delay) {
		return
	}
	to := "/slow/" + delay.String()
	if left := number(r, "left"); left > 1 {
		to = "/redirect-slow/" + strconv.Itoa(left-1) + "/" + delay.String()
	}
	http.Redirect(w, r, to, http.StatusFound)
}

func redirectBy(w http.ResponseWriter, r *http.Request) {
	code := number(r, "code")
	if code < 300 || code > 399 {
		http.Error(w, "want a code from 300 to 399", http.StatusBadRequest)
		return
	}
	to := "/echo"
	if left := number(r, "left"); left > 1 {
		to = "/redirect/" + r.PathValue("code") + "/" + strconv.Itoa(left-1)
	}
	w.Header().Set("Location", to)
	w.WriteHeader(code)
}

func redirectTo(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	code := http.StatusFound
	if asked := atoi(query.Get("code")); asked >= 300 && asked <= 399 {
		code = asked
	}
	w.Header().Set("Location", query.Get("url"))
	w.WriteHeader(code)
}

// redirectSchemes goes to the other one of the plain and the TLS server.
func (l *Lab) redirectSchemes(w http.ResponseWriter, r *http.Request) {
	to := l.TLSURL()
	if r.TLS != nil {
		to = l.URL()
	}
	if left := number(r, "left"); left > 1 {
		to += "/redirect-schemes/" + strconv.Itoa(left-1)
	} else {
		to += "/echo"
	}
	http.Redirect(w, r, to, http.StatusFound)
}

// redirectOdd uses the forms a Location may have (RFC 3986 §4.2), and others.
func redirectOdd(w http.ResponseWriter, r *http.Request) {
	to := map[string][]string{
		"path":     {"/echo?by=path"},
		"host":     {"//" + r.Host + "/echo?by=host"},
		"query":    {"?by=query"},
		"relative": {"../echo/relative"},
		"dots":     {"/a/./b/../../echo/dots"},
		"userinfo": {"http://user:secret@" + r.Host + "/echo"},
		"empty":    {""},
		"missing":  nil,
		"twice":    {"/echo/first", "/echo/second"},
		"long":     {"/echo/" + strings.Repeat("x", 60_000)},
		"spaces":   {"/echo/with some spaces"},
		"bytes":    {"/echo/\xff\xfe\u00fc"},
	}
	if r.PathValue("kind") == "query" && r.URL.Query().Has("by") {
		echo(w, r)
		return
	}
	locations, known := to[r.PathValue("kind")]
	if !known {
		http.NotFound(w, r)
		return
	}
	if locations != nil {
		w.Header()["Location"] = locations
	}
	w.WriteHeader(http.StatusFound)
}
