package service

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus"
)

func TestProfilesAreForThisMachine(t *testing.T) {
	t.Parallel()
	ops := OpsHandler(NewHealth("prober", "1"), prometheus.NewRegistry())
	for from, want := range map[string]int{
		"127.0.0.1:4000": http.StatusOK, "[::1]:4000": http.StatusOK, "[::ffff:127.0.0.1]:4000": http.StatusOK,
		"192.0.2.1:4000": http.StatusForbidden, "[2001:db8::1]:4000": http.StatusForbidden, "10.0.0.7:4000": http.StatusForbidden, "@": http.StatusForbidden,
	} {
		for path, want := range map[string]int{
			"/debug/pprof/": want, "/debug/pprof/goroutine": want, "/debug/pprof/cmdline": want, "/debug/pprof/symbol": want, "/debug/pprof/trace?seconds=0.01": want,
			"/metrics": http.StatusOK, "/healthz": http.StatusOK,
		} {
			answer, asked := httptest.NewRecorder(), httptest.NewRequestWithContext(t.Context(), http.MethodGet, path, nil)
			asked.RemoteAddr = from
			ops.ServeHTTP(answer, asked)
			if answer.Code != want {
				t.Errorf("%s from %s: %d, want %d", path, from, answer.Code, want)
			}
		}
	}
}
