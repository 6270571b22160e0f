package httpapi

import (
	"context"
	"crypto/rand"
	"net/http"

	"github.com/probefleet/probefleet/dashboard-api/internal/session"
	"github.com/probefleet/probefleet/internal/heartbeat"
	"github.com/probefleet/probefleet/internal/heartbeatstore"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Heartbeats keeps where heartbeats stand.
type Heartbeats interface {
	Ping(ctx context.Context, tokenHash string, p heartbeat.Ping) (heartbeatstore.Heartbeat, error)
	Get(ctx context.Context, targetID int64) (heartbeatstore.Heartbeat, error)
	Ensure(ctx context.Context, targetID int64, token heartbeatstore.Token) error
	Rotate(ctx context.Context, targetID int64, token heartbeatstore.Token) error
}

// NewHeartbeatToken makes a heartbeat's secret, of 130 random bits.
func NewHeartbeatToken(box *seal.Box) heartbeatstore.Token {
	text := rand.Text()
	return heartbeatstore.Token{Hash: session.HashToken(text), Sealed: box.Seal(secret.New(text))}
}

type heartbeatBody struct {
	TargetID   int64             `json:"target_id"`
	Path       string            `json:"path" doc:"what the job pings, on this API's host; with /start, /fail, /log or /EXITCODE behind it. Whoever knows it can ping."`
	Paused     bool              `json:"paused"`
	ExpectedAt nullable[instant] `json:"expected_at" doc:"the next ping; null while it is paused"`
	DeadlineAt nullable[instant] `json:"deadline_at" doc:"when it is down without one"`
	StartedAt  nullable[instant] `json:"started_at" doc:"of a run whose end was not told"`
	LastPingAt nullable[instant] `json:"last_ping_at"`
	LastSignal string            `json:"last_signal" enum:",success,start,fail,log"`
	ExitCode   int               `json:"exit_code" doc:"of the last ping"`
	Excerpt    string            `json:"excerpt" doc:"what came along with the last ping, at most 10 KiB"`
	Pings      int64             `json:"pings"`
}

type heartbeatOutput struct {
	Cache string `header:"Cache-Control"`
	Body  heartbeatBody
}

// heartbeat shows where a heartbeat stands, with its secret: so editors only.
func (a *api) heartbeat(ctx context.Context, in *TargetPath) (*heartbeatOutput, error) {
	if err := a.Heartbeats.Ensure(ctx, in.ID, NewHeartbeatToken(a.Box)); err != nil { // made with the target, unless that was cut off
		return nil, err
	}
	return a.shownHeartbeat(ctx, in.ID)
}

// rotateHeartbeat gives a heartbeat another secret.
func (a *api) rotateHeartbeat(ctx context.Context, in *TargetPath) (*heartbeatOutput, error) {
	if err := a.Heartbeats.Rotate(ctx, in.ID, NewHeartbeatToken(a.Box)); err != nil {
		return nil, err
	}
	a.audit(ctx, opRotated, targetObject(in.ID), "")
	return a.shownHeartbeat(ctx, in.ID)
}

func (a *api) shownHeartbeat(ctx context.Context, id int64) (*heartbeatOutput, error) {
	h, err := a.Heartbeats.Get(ctx, id)
	if err != nil {
		return nil, err
	}
	token, err := a.Box.Open(h.Sealed)
	if err != nil {
		return nil, problem(http.StatusConflict, "token_unreadable", "the token was sealed with another SECRET_KEY: it still works, and cannot be shown; make a new one")
	}
	return &heartbeatOutput{Cache: "no-store", Body: heartbeatBody{
		TargetID: id, Path: heartbeatPrefix + token.Reveal(), Paused: h.Paused, ExpectedAt: maybeInstant(h.Expected), DeadlineAt: maybeInstant(h.Due), StartedAt: maybeInstant(h.Started),
		LastPingAt: maybeInstant(h.Pinged), LastSignal: h.Signal, ExitCode: h.ExitCode, Excerpt: h.Excerpt, Pings: h.Pings,
	}}, nil
}

// begin makes the token of a heartbeat that was just saved. Where that fails it is made
// when it is first asked for, or by whoever looks after heartbeats.
func (a *api) begin(ctx context.Context, t uptime.Target) {
	if t.Kind != uptime.KindHeartbeat {
		return
	}
	if err := a.Heartbeats.Ensure(ctx, t.ID, NewHeartbeatToken(a.Box)); err != nil {
		a.Log.Warn("heartbeat's token not made yet", "target_id", t.ID, "error", err)
	}
}
