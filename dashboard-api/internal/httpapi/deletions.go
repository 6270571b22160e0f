package httpapi

import (
	"context"
	"slices"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/targetstore"
)

// Deletions says how far removing what deleted targets left behind has come.
type Deletions interface {
	Deletion(ctx context.Context, id int64) (targetstore.Deletion, error)
	Deletions(ctx context.Context, unfinished bool, beforeID int64, limit int) ([]targetstore.Deletion, error)
}

// Steps that are noted with the deletion itself: telling probers, and taking it off status pages.
const (
	stepProbers = "probers"
	stepPages   = "pages"
)

// States of a step.
const (
	stepPending = "pending"
	stepFailing = "failing"
	stepCleared = "cleared"
	stepDone    = "done"
)

type deletionStep struct {
	Step       string            `json:"step" doc:"a table, checks (those on demand, made when the target was saved), answers (those that every API keeps), pages (the status pages that showed it), or probers (which are told that it is gone)"`
	State      string            `json:"state" enum:"pending,failing,cleared,done" doc:"cleared: nothing is there, and something may still be on its way. done: nothing is, and what was is erased from the disks of ClickHouse; what may lie on one of a prober or an API node is removed when it comes."`
	LookedAt   nullable[instant] `json:"looked_at" doc:"when it was last looked at, and what was there was removed"`
	ClearSince nullable[instant] `json:"clear_since" doc:"since when nothing was found there"`
	DoneAt     nullable[instant] `json:"done_at"`
	Failures   int64             `json:"failures" doc:"tries that failed; each step is repeated until it works, and holds up no other"`
	LastError  string            `json:"last_error" doc:"of the last that did; empty when the last try worked"`
}

type deletionBody struct {
	TargetID    int64             `json:"target_id"`
	State       string            `json:"state" enum:"pending,done"`
	RequestedAt instant           `json:"requested_at"`
	EffectiveAt nullable[instant] `json:"effective_at" doc:"from then on no check of it is published; null: no publisher has taken the deletion up yet"`
	DoneAt      nullable[instant] `json:"done_at" doc:"when every step was"`
	Steps       []deletionStep    `json:"steps" nullable:"false"`
}

func deletionOf(d targetstore.Deletion) deletionBody {
	body := deletionBody{
		TargetID: d.TargetID, State: stepPending, RequestedAt: instant(d.Requested), EffectiveAt: maybeInstant(d.Effective), DoneAt: maybeInstant(d.Finished),
		Steps: []deletionStep{stepOf(targetstore.Step{Name: stepProbers, Looked: d.Tombstoned, CleanSince: d.Tombstoned, Done: d.Tombstoned, Tries: d.Tries, LastError: d.LastError})},
	}
	if !d.Finished.IsZero() {
		body.State = stepDone
	}
	for _, name := range append([]string{targetstore.StepAnswers, targetstore.StepChecks}, resultstore.TargetTables()...) {
		step := targetstore.Step{Name: name}
		if i := slices.IndexFunc(d.Steps, func(s targetstore.Step) bool { return s.Name == name }); i >= 0 {
			step = d.Steps[i]
		}
		body.Steps = append(body.Steps, stepOf(step))
	}
	// The transaction of the deletion took it off its status pages.
	body.Steps = append(body.Steps, stepOf(targetstore.Step{Name: stepPages, Looked: d.Requested, CleanSince: d.Requested, Done: d.Requested}))
	return body
}

func stepOf(s targetstore.Step) deletionStep {
	step := deletionStep{
		Step: s.Name, State: stepPending, LookedAt: maybeInstant(s.Looked), ClearSince: maybeInstant(s.CleanSince), DoneAt: maybeInstant(s.Done), Failures: s.Tries, LastError: s.LastError,
	}
	switch {
	case s.LastError != "":
		step.State = stepFailing
	case !s.Done.IsZero():
		step.State = stepDone
	case !s.CleanSince.IsZero():
		step.State = stepCleared
	}
	return step
}

type deletionOutput struct{ Body deletionBody }

func (a *api) deletion(ctx context.Context, in *TargetPath) (*deletionOutput, error) {
	d, err := a.Deletions.Deletion(ctx, in.ID)
	if err != nil {
		return nil, err
	}
	return &deletionOutput{deletionOf(d)}, nil
}

func (a *api) listDeletions(ctx context.Context, in *struct {
	Page
	State string `query:"state" enum:"pending" doc:"only those that are not done"`
}) (*listOutput[deletionBody], error) {
	before, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	found, err := a.Deletions.Deletions(ctx, in.State == stepPending, before, in.Limit+1)
	if err != nil {
		return nil, err
	}
	return pageOf(found, in.Limit, deletionOf, func(d targetstore.Deletion) int64 { return d.TargetID }), nil
}
