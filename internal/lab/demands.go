package lab

import (
	"crypto/subtle"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// demandPaths want something of the client: to know, to carry or to wait.
func demandPaths(mux *http.ServeMux) {
	mux.HandleFunc("/basic/{user}/{password}", basic)
	mux.HandleFunc("/bearer/{token}", bearer)
	mux.HandleFunc("/retry/{code}/{after}", retry)
	mux.HandleFunc("/cookie/set/{name}/{value}", cookieSet)
	mux.HandleFunc("/cookie/hop/{name}/{value}", cookieSet)
	mux.HandleFunc("/cookie/need/{name}/{value}", cookieNeed)
	mux.HandleFunc("/cookie/flood/{count}", cookieFlood)
}

func basic(w http.ResponseWriter, r *http.Request) {
	user, password, sent := r.BasicAuth()
	if !sent || user != r.PathValue("user") || password != r.PathValue("password") {
		w.Header().Set("WWW-Authenticate", `Basic realm="lab", charset="UTF-8"`)
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	ok(w, r)
}

func bearer(w http.ResponseWriter, r *http.Request) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") || subtle.ConstantTimeCompare([]byte(token), []byte(r.PathValue("token"))) == 0 {
		w.Header().Set("WWW-Authenticate", `Bearer realm="lab"`)
		http.Error(w, "who are you?", http.StatusUnauthorized)
		return
	}
	ok(w, r)
}

// retry asks for patience, in seconds or until a date (RFC 9110 §10.2.3).
func retry(w http.ResponseWriter, r *http.Request) {
	code, after := number(r, "code"), r.PathValue("after")
	if code < 200 || code > 599 {
		http.Error(w, "want a code from 200 to 599", http.StatusBadRequest)
		return
	}
	if after == "date" {
		after = time.Now().Add(30 * time.Second).UTC().Format(http.TimeFormat)
	}
	w.Header().Set("Retry-After", after)
	w.WriteHeader(code)
}

func cookieSet(w http.ResponseWriter, r *http.Request) {
	name, value := r.PathValue("name"), r.PathValue("value")
	http.SetCookie(w, &http.Cookie{Name: name, Value: value, Path: "/"})
	if strings.HasPrefix(r.URL.Path, "/cookie/hop/") {
		http.Redirect(w, r, "/cookie/need/"+name+"/"+value, http.StatusFound)
		return
	}
	ok(w, r)
}

func cookieNeed(w http.ResponseWriter, r *http.Request) {
	for _, cookie := range r.CookiesNamed(r.PathValue("name")) {
		if cookie.Value == r.PathValue("value") {
			ok(w, r)
			return
		}
	}
	http.Error(w, "the cookie is missing", http.StatusForbidden)
}

func cookieFlood(w http.ResponseWriter, r *http.Request) {
	for i := range min(number(r, "count"), 1<<20) {
		w.Header().Add("Set-Cookie", fmt.Sprintf("c%d=%s; Path=/", i, strconv.Itoa(i)))
	}
	ok(w, r)
}
