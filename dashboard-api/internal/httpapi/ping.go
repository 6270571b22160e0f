package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/heartbeat"
)

const (
	heartbeatPrefix = "/api/v1/heartbeats/"
	maxPingBody     = 10 << 10
	maxToken        = 128 // bytes
	pingWithin      = 10 * time.Second
)

// ping takes a job's sign of life in. The token is all the proof that is asked for: no
// session, cookie or key is looked at, so there is nothing that a foreign page could abuse.
// 200 says that it is committed.
func (a *api) ping(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Cache-Control", "no-store")
	ctx, cancel := context.WithTimeout(r.Context(), pingWithin)
	defer cancel()
	// What is stored is a hash: finding it takes as long for a token that is nearly right as
	// for any other.
	hash := session.HashToken(r.PathValue("token"))
	if wait := a.pings.Allow(hash); wait > 0 {
		problem(http.StatusTooManyRequests, "too_many_pings", "this heartbeat is pinged too often: once a second is possible").retryAfter(wait).write(w, r)
		return
	}
	signal, exitCode, known := heartbeat.Read(r.PathValue("signal"))
	if !known || len(r.PathValue("token")) > maxToken {
		problem(http.StatusNotFound, codeNotFound, "a ping ends in nothing, start, fail, log or an exit code from 0 to 255").write(w, r)
		return
	}
	p := heartbeat.Ping{Signal: signal, ExitCode: exitCode}
	if r.Method == http.MethodPost {
		var err error
		if p.Body, p.BodyCut, err = excerpt(r.Body); err != nil {
			problem(http.StatusBadRequest, "body_unreadable", "the body did not arrive whole").write(w, r)
			return
		}
		p.Body = strings.ReplaceAll(p.Body, r.PathValue("token"), "…") // scripts print what they run, and more people read it than may ping
	}
	p.At = a.Now() // it is there when it is whole: deadlines that ended before are over
	h, err := a.Heartbeats.Ping(ctx, hash, p)
	if err != nil {
		a.logged(ctx, problemOf(err)).write(w, r)
		return
	}
	a.Pinged()
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if h.Paused {
		_, _ = fmt.Fprintln(w, "OK (paused)")
		return
	}
	_, _ = fmt.Fprintln(w, "OK")
}

// excerpt reads what came along, as text. What is longer than the limit is cut: a long log
// must not cost its ping.
func excerpt(body io.Reader) (text string, cut bool, err error) {
	raw, err := io.ReadAll(io.LimitReader(body, maxPingBody+1))
	if err != nil {
		return "", false, err
	}
	if cut = len(raw) > maxPingBody; cut {
		raw = raw[:maxPingBody]
	}
	// The databases take no NUL, and one of them nothing but UTF-8.
	return strings.ReplaceAll(strings.ToValidUTF8(string(raw), "�"), "\x00", ""), cut, nil
}
