package httpapi

import (
	"context"
	"crypto/rand"
	"fmt"
	"log/slog"
	"mime"
	"net/http"
	"reflect"
	"regexp"
	"runtime/debug"
	"strings"
	"time"
)

const (
	maxBody      = 1 << 20
	bodyPatience = 10 * time.Second
	answerWithin = 30 * time.Second
	apiPrefix    = "/api/"
)

func typeOf[T any]() reflect.Type { return reflect.TypeFor[T]() }

type contextKey int

const (
	keyRequestID contextKey = iota
	keyIdentity
	keyRequest
	keyOperation
	keyTrail
)

var goodRequestID = regexp.MustCompile(`^[A-Za-z0-9._-]{1,64}$`)

// withRequestID names each request, by the name the caller gave if it is harmless.
func withRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get("X-Request-Id")
		if !goodRequestID.MatchString(id) {
			id = strings.ToLower(rand.Text())
		}
		w.Header().Set("X-Request-Id", id)
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), keyRequestID, id)))
	})
}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(keyRequestID).(string)
	return id
}

// withRecovery turns a panic in a handler into a logged 500 of that request alone.
func withRecovery(log *slog.Logger, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() {
			switch cause := recover(); cause {
			case nil:
			case http.ErrAbortHandler:
				panic(cause)
			default:
				log.Error("handler panicked", "request_id", requestID(r.Context()), "path", withoutToken(r.URL.Path), "panic", fmt.Sprint(cause), "stack", string(debug.Stack()))
				problem(http.StatusInternalServerError, "internal", "something went wrong here; the log knows more").write(w, r)
			}
		}()
		next.ServeHTTP(w, r)
	})
}

// withoutToken is a path as it may be logged.
func withoutToken(path string) string {
	if strings.HasPrefix(path, heartbeatPrefix) {
		return heartbeatPrefix + "…"
	}
	return path
}

// onlyJSON refuses writes whose body is not declared as JSON: a form on a foreign
// page cannot send that type without asking first.
func onlyJSON(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		writes := r.Method == http.MethodPost || r.Method == http.MethodPatch || r.Method == http.MethodPut
		if writes && strings.HasPrefix(r.URL.Path, apiPrefix) && !strings.HasPrefix(r.URL.Path, heartbeatPrefix) { // a ping's body is whatever a job prints
			media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
			if err != nil || media != "application/json" && media != "application/merge-patch+json" {
				problem(http.StatusUnsupportedMediaType, "unsupported_media_type", "send the body with Content-Type: application/json").write(w, r)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// crossOrigin refuses writes that a browser sends for another site's page.
func crossOrigin(next http.Handler) http.Handler {
	protection := http.NewCrossOriginProtection()
	protection.AddInsecureBypassPattern(heartbeatPrefix) // no cookie counts there, so nobody's can be used
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		problem(http.StatusForbidden, "cross_origin", "this request comes from another site's page").write(w, r)
	}))
	return protection.Handler(next)
}

// private keeps answers of the API out of shared caches and foreign frames.
func private(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, apiPrefix) {
			header := w.Header()
			header.Set("Cache-Control", "private, no-cache")
			header.Set("X-Content-Type-Options", "nosniff")
			header.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
			header.Set("Referrer-Policy", "no-referrer")
		}
		next.ServeHTTP(w, r)
	})
}
