package httpapi

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/answercache"
	"github.com/probefleet/probefleet/internal/recorder"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Recorder makes rows durable.
type Recorder interface {
	RecordWait(ctx context.Context, rows []uptime.Result) error
	State() recorder.State
}

// Limits of what external checkers send.
const (
	maxItems      = 1000
	maxOutside    = 20               // regions of external checkers of a target
	clockAhead    = time.Minute      // how far their clocks may be ahead
	recordWithin  = 15 * time.Second // for rows to become durable
	announcePause = 2 * time.Second
)

// ReceivedInput is a batch of results of external checkers.
type ReceivedInput struct {
	Items []ReceivedItem `json:"items" minItems:"1" maxItems:"1000" nullable:"false"`
}

// ReceivedItem is one result.
type ReceivedItem struct {
	At         *string  `json:"at" format:"date-time" doc:"When it was checked, to the millisecond: with the target and the region it names the slot. At most a minute ahead, and not older than results are kept."`
	Region     *string  `json:"region,omitempty" maxLength:"32" doc:"Where from: 1 to 32 of a-z, 0-9 and -. It is stored with ext- in front, unless it begins so: results of external checkers never mix with those of probers. At most 20 of a target. Default ext-external." example:"office"`
	Status     *string  `json:"status" enum:"up,degraded,down"`
	LatencyMS  *float64 `json:"latency_ms,omitempty" minimum:"0" maximum:"3600000" doc:"Default: the sum of the phases."`
	DNSUS      *int64   `json:"dns_us,omitempty" minimum:"0" maximum:"3600000000"`
	ConnectUS  *int64   `json:"connect_us,omitempty" minimum:"0" maximum:"3600000000"`
	TLSUS      *int64   `json:"tls_us,omitempty" minimum:"0" maximum:"3600000000"`
	WaitUS     *int64   `json:"wait_us,omitempty" minimum:"0" maximum:"3600000000"`
	TransferUS *int64   `json:"transfer_us,omitempty" minimum:"0" maximum:"3600000000"`
	HTTPStatus *int64   `json:"http_status,omitempty" minimum:"100" maximum:"599"`
	Failure    *string  `json:"failure,omitempty" enum:"dns,connect_refused,connect_timeout,tls_expired,tls_name,tls_untrusted,tls_other,status_code,body,header,latency,redirect_limit,too_large,protocol,reset,timeout,reported" doc:"What was wrong: needed with down, not possible with up."`
	Message    *string  `json:"message,omitempty" maxLength:"500" doc:"One line for people."`
}

type receivedBody struct {
	Accepted int      `json:"accepted" doc:"all of them: they are durable"`
	Regions  []string `json:"regions" nullable:"false" doc:"as they are stored"`
}

// receiveResults takes results of external checkers in: all of them, durable when this
// answers, or none that anybody was told of. Sending them again changes nothing.
func (a *api) receiveResults(ctx context.Context, in *struct {
	TargetPath
	Idempotent
	Body document[ReceivedInput]
}) (*answer[receivedBody], error) {
	return once(ctx, a, in.Key, in.Body.raw, func() (*answer[receivedBody], error) {
		target, err := a.Targets.Get(ctx, in.ID)
		if err != nil {
			return nil, err
		}
		var rows []uptime.Result
		sender := sender{target: target, actor: identityOf(ctx).Actor, probed: a.Fleet.Regions(), now: a.Now(), kept: a.Results.RawKept()}
		if p := read(in.Body, func(fields ReceivedInput, _ nulls) (found []Mistake) {
			rows, found = sender.judge(fields)
			return found
		}); p != nil {
			return nil, p
		}
		body := receivedBody{Accepted: len(rows), Regions: regionsOf(rows)}
		if !a.Hub.Admit(target.ID, body.Regions, a.Results.RawKept(), maxOutside) {
			return nil, tooManyRegions()
		}
		if err := a.record(ctx, rows); err != nil {
			return nil, err
		}
		a.Recent.Arriving(answercache.Slots(rows)...) // the sender's next question must not wait for the feed
		a.announce(ctx, rows)
		return &answer[receivedBody]{Status: http.StatusOK, Body: stored[receivedBody]{value: body}}, nil
	})
}

// regionsOf names the regions of rows, each once.
func regionsOf(rows []uptime.Result) (regions []string) {
	for _, r := range rows {
		if !slices.Contains(regions, r.Region) {
			regions = append(regions, r.Region)
		}
	}
	return regions
}

func tooManyRegions() *Problem {
	return mistakes([]Mistake{{Pointer: "/items", Code: codeManyRegions, Message: fmt.Sprintf(
		"results of external checkers of a target come from at most %d regions, and with these it would be more: name a checker for its place, not for its run; one that is silent makes room when its results are not kept any more", maxOutside)}})
}

// record makes rows durable, or says that nothing can take them. Rows that did not make it
// in time may still be stored: that is harmless, and so is to send them again.
func (a *api) record(ctx context.Context, rows []uptime.Result) error {
	if s := a.Recorder.State(); s.Retrying && (s.Spool == nil || s.Spool.Full) {
		return noRoom(errors.New(s.LastError))
	}
	ctx, cancel := context.WithTimeout(ctx, recordWithin)
	defer cancel()
	err := a.Recorder.RecordWait(ctx, rows)
	if errors.Is(err, recorder.ErrStopped) || errors.Is(err, context.DeadlineExceeded) {
		return noRoom(err)
	}
	if resultstore.IsTooOld(err) { // they were young enough by what was known here
		return withCause(mistakes([]Mistake{{Pointer: "/items", Code: codeTimeTooOld, Message: "some of these are older by now than results are taken (a day less than they are kept) and are not stored; the others may be stored"}}), err)
	}
	return err
}

func noRoom(cause error) *Problem {
	return withCause(problem(http.StatusServiceUnavailable, codeUnavailable, "neither ClickHouse nor the disk takes results at this moment: send the batch again").retryAfter(retryWhenDown), cause)
}

// announce tells live pages. They find what is not announced among the recorded results,
// a minute later.
func (a *api) announce(ctx context.Context, rows []uptime.Result) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), announcePause)
	defer cancel()
	if err := a.Announce(ctx, rows); err != nil {
		a.Log.Warn("received results not announced: pages find them later", "request_id", requestID(ctx), "count", len(rows), "error", err)
	}
}
