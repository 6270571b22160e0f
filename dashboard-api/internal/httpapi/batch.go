package httpapi

import (
	"context"
	"fmt"
	"slices"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// maxBatch is how many targets one request may change: they are one transaction, for which others wait.
const maxBatch = 10_000

// BatchInput asks for the same change of many targets.
type BatchInput struct {
	IDs      []int64   `json:"ids" minItems:"1" maxItems:"10000" nullable:"false" doc:"Which targets, each once."`
	Versions []int64   `json:"versions,omitempty" nullable:"true" doc:"The spec_version that each of them must have, in the order of ids, as If-Match says it of one; 0: any. Absent: the last write wins."`
	Set      *BatchSet `json:"set" doc:"What they are to be, as in a PATCH of each."`
	DryRun   *bool     `json:"dry_run,omitempty" doc:"Judge everything, and change nothing."`
}

// BatchSet is what can be the same of many targets.
type BatchSet struct {
	Active    *bool    `json:"active,omitempty"`
	IntervalS *int64   `json:"interval_s,omitempty" minimum:"10" maximum:"86400"`
	TimeoutMS *int64   `json:"timeout_ms,omitempty" minimum:"100" maximum:"30000"`
	Regions   []string `json:"regions,omitempty" maxItems:"20" nullable:"true" doc:"Empty or null: every region."`
}

type batchBody struct {
	DryRun    bool           `json:"dry_run"`
	Changed   []batchChanged `json:"changed" nullable:"false"`
	Unchanged []int64        `json:"unchanged" nullable:"false" doc:"what was so already: their versions stay"`
	Refused   []batchRefused `json:"refused" nullable:"false" doc:"what stays as it was; the others are changed all the same"`
}

type batchChanged struct {
	ID          int64 `json:"id"`
	SpecVersion int64 `json:"spec_version" doc:"the new one; of a dry run the one it has"`
}

type batchRefused struct {
	ID      int64    `json:"id"`
	Problem *Problem `json:"problem" doc:"what a PATCH of this one would have been answered"`
}

type batchOutput struct{ Body batchBody }

// changeMany changes many targets in one transaction. What of them cannot be changed is told, one by one.
func (a *api) changeMany(ctx context.Context, in *struct{ Body document[BatchInput] }) (*batchOutput, error) {
	var q BatchInput
	var cleared nulls
	if p := read(in.Body, func(fields BatchInput, null nulls) []Mistake {
		q = fields
		cleared = nulls{"regions": null["set/regions"]}
		return batchMistakes(fields, null)
	}); p != nil {
		return nil, p
	}
	asked := make([]targetstore.Asked, len(q.IDs))
	for i, id := range q.IDs {
		asked[i].ID = id
		if len(q.Versions) > 0 {
			asked[i].IfVersion = q.Versions[i]
		}
	}
	set := TargetInput{Active: q.Set.Active, IntervalS: q.Set.IntervalS, TimeoutMS: q.Set.TimeoutMS, Regions: q.Set.Regions}
	around, dry := a.surroundings(), deref(q.DryRun)
	before := make(map[int64]uptime.Target, len(asked))
	outcomes, err := a.Targets.UpdateMany(ctx, asked, dry, func(target *uptime.Target) error {
		before[target.ID] = *target
		if p := mistakes(merge(target, set, cleared, around)); p != nil {
			return p
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	body := batchBody{DryRun: dry, Changed: []batchChanged{}, Unchanged: []int64{}, Refused: []batchRefused{}}
	var entries []accountstore.AuditEntry
	for _, o := range outcomes {
		switch {
		case o.Err != nil:
			body.Refused = append(body.Refused, batchRefused{o.ID, problemOf(o.Err)})
			continue
		case !o.Changed:
			body.Unchanged = append(body.Unchanged, o.ID)
			continue
		}
		body.Changed = append(body.Changed, batchChanged{o.ID, o.Target.SpecVersion})
		if !dry {
			a.Hub.Upsert(o.Target)
			a.Recent.Forget(o.ID)
			a.After.Add(livefeed.Change{TargetID: o.ID, Op: opUpdated, Seq: o.Target.SpecVersion})
			entry := a.entry(ctx, "target."+opUpdated, targetObject(o.ID), o.Target.Name)
			entry.Changes = revised(rescheduled(before[o.ID], o.Target))
			entries = append(entries, entry)
		}
	}
	a.auditAll(ctx, entries)
	if dry {
		unwritten(ctx)
	}
	return &batchOutput{body}, nil
}

func batchMistakes(q BatchInput, null nulls) []Mistake {
	var found []Mistake
	switch {
	case len(q.IDs) == 0:
		found = append(found, needed("/ids"))
	case len(q.IDs) > maxBatch:
		found = append(found, Mistake{Pointer: "/ids", Code: codeTooLong, Message: fmt.Sprintf("at most %d targets at a time", maxBatch)})
	}
	sorted := slices.Sorted(slices.Values(q.IDs))
	if len(slices.Compact(slices.Clone(sorted))) != len(sorted) {
		found = append(found, Mistake{Pointer: "/ids", Code: codeInvalidParameter, Message: "a target is named twice"})
	}
	if len(q.Versions) > 0 && len(q.Versions) != len(q.IDs) {
		found = append(found, Mistake{Pointer: "/versions", Code: codeInvalidParameter, Message: "there must be as many versions as ids"})
	}
	switch {
	case q.Set == nil:
		found = append(found, needed("/set"))
	case q.Set.Active == nil && q.Set.IntervalS == nil && q.Set.TimeoutMS == nil && q.Set.Regions == nil && !null["set/regions"]:
		found = append(found, Mistake{Pointer: "/set", Code: codeRequired, Message: "say what is to be changed"})
	}
	return found
}
