package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/livefeed"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

// maxBatch is how many targets one request may change: they are one transaction, for which others wait.
const maxBatch = 10_000

// BatchInput asks for the same change of many targets.
type BatchInput struct {
	IDs      []int64   `json:"ids" minItems:"1" maxItems:"10000" nullable:"false" doc:"Which targets, each once."`
	Versions []int64   `json:"versions,omitempty" nullable:"true" doc:"The spec_version that each of them must have, in the order of ids, as If-Match says it of one; 0: any. Absent: the last write wins."`
	Set      *BatchSet `json:"set" doc:"What they are to be, as in a PATCH of each. Absent stays, null goes back to the default."`
	DryRun   *bool     `json:"dry_run,omitempty" doc:"Judge everything, and change nothing."`
}

// BatchSet is what can be the same of many targets.
type BatchSet struct {
	Active    *bool    `json:"active,omitempty"`
	IntervalS *int64   `json:"interval_s,omitempty" minimum:"10" maximum:"86400"`
	TimeoutMS *int64   `json:"timeout_ms,omitempty" minimum:"100" maximum:"30000"`
	Regions   []string `json:"regions,omitempty" maxItems:"20" nullable:"true" doc:"Empty or null: every region."`

	AddTags    []string        `json:"add_tags,omitempty" maxItems:"20" nullable:"true" doc:"Beside those that each has."`
	RemoveTags []string        `json:"remove_tags,omitempty" maxItems:"20" nullable:"true" doc:"From those that have them."`
	ParentID   *int64          `json:"parent_id,omitempty" minimum:"1" doc:"The target that they depend on."`
	Expect     *ExpectInput    `json:"expect,omitempty" doc:"What counts as up. Of http targets."`
	Family     *string         `json:"family,omitempty" enum:"4,6" doc:"Visit only addresses of this family."`
	Assertions []assertionPart `json:"assertions,omitempty" maxItems:"20" nullable:"true" doc:"What the answer must be. Replaces the list of before; empty or null: nothing."`
	Policy     *verdict.Policy `json:"policy,omitempty" doc:"When they are down and when people hear of it. Replaces the one of before as a whole."`
}

// input is the same as a PATCH of one that has these tags.
func (s *BatchSet) input(tags []string) TargetInput {
	in := TargetInput{
		Active: s.Active, IntervalS: s.IntervalS, TimeoutMS: s.TimeoutMS, Regions: s.Regions,
		ParentID: s.ParentID, Expect: s.Expect, Family: s.Family, Assertions: s.Assertions, Policy: s.Policy,
	}
	if len(s.AddTags)+len(s.RemoveTags) > 0 {
		left := without(tags, s.RemoveTags)
		in.Tags = append(left, without(s.AddTags, left)...)
	}
	return in
}

// without are the ones that are not among the others; never nil.
func without(ones, others []string) []string {
	left := make([]string, 0, len(ones))
	for _, one := range ones {
		if !slices.Contains(others, one) {
			left = append(left, one)
		}
	}
	return left
}

type batchBody struct {
	DryRun    bool           `json:"dry_run"`
	Changed   []batchChanged `json:"changed" nullable:"false"`
	Unchanged []int64        `json:"unchanged" nullable:"false" doc:"what was so already: their versions stay"`
	Refused   []batchRefused `json:"refused" nullable:"false" doc:"what stays as it was; the others are changed all the same"`
	Before    []batchBefore  `json:"before" nullable:"false" doc:"what was of those in changed: each set, given again for its ids and in this order, puts them back"`
}

type batchBefore struct {
	IDs []int64        `json:"ids" nullable:"false"`
	Set map[string]any `json:"set" doc:"of what was to be set the members in which these were different"`
}

// befores gathers what was by who had the same.
type befores struct {
	places map[string]int // in groups, by the text of a set
	groups []batchBefore
}

// add says in how many members the two differ.
func (b *befores) add(was, is uptime.Target) int {
	set := map[string]any{}
	differ := func(name string, differs bool, value any) {
		if differs {
			set[name] = value
		}
	}
	differ("active", was.Active != is.Active, was.Active)
	if was.Kind.Probed() { // else these follow from the rest
		differ("interval_s", was.Interval != is.Interval, int64(was.Interval/time.Second))
		differ("timeout_ms", was.Timeout != is.Timeout, was.Timeout.Milliseconds())
		differ("regions", !slices.Equal(was.Regions, is.Regions), orEmpty(was.Regions))
	}
	gone, come := without(was.Tags, is.Tags), without(is.Tags, was.Tags)
	differ("add_tags", len(gone) > 0, gone)
	differ("remove_tags", len(come) > 0, come)
	differ("parent_id", was.ParentID != is.ParentID, unless(was.ParentID == 0, was.ParentID))
	statuses := was.Spec.Expect.Status
	differ("expect", !slices.Equal(statuses, is.Spec.Expect.Status), unless(len(statuses) == 0, expectBody{statusTexts(statuses)}))
	differ("family", was.Spec.Family != is.Spec.Family, unless(was.Spec.Family == uptime.FamilyAny, was.Spec.Family))
	differ("assertions", !slices.Equal(was.Spec.Assertions, is.Spec.Assertions), assertionsOf(was.Spec.Assertions))
	differ("policy", was.Policy != is.Policy, unless(was.Policy == "", verdict.Stored(was.Policy)))
	if len(set) == 0 {
		return 0
	}
	text, _ := json.Marshal(set) // cannot fail
	place, known := b.places[string(text)]
	if !known {
		place = len(b.groups)
		if b.places == nil {
			b.places = map[string]int{}
		}
		b.places[string(text)], b.groups = place, append(b.groups, batchBefore{Set: set})
	}
	b.groups[place].IDs = append(b.groups[place].IDs, was.ID)
	return len(set)
}

// unless is the value, or null.
func unless(null bool, value any) any {
	if null {
		return nil
	}
	return value
}

type batchChanged struct {
	ID          int64 `json:"id"`
	SpecVersion int64 `json:"spec_version" doc:"the new one; of a dry run the one it has"`

	PreviewCheckID string `json:"preview_check_id,omitempty" doc:"as in the answer to a PATCH; of the first ten that are visited otherwise"`
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
		cleared = nulls{}
		for name := range null {
			if member, of := strings.CutPrefix(name, "set/"); of {
				cleared[member] = true
			}
		}
		return batchMistakes(fields, cleared)
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
	around, dry := a.surroundings(), deref(q.DryRun)
	before := make(map[int64]uptime.Target, len(asked))
	outcomes, err := a.Targets.UpdateMany(ctx, asked, dry, func(target *uptime.Target) error {
		before[target.ID] = *target
		if p := mistakes(merge(target, q.Set.input(target.Tags), cleared, around)); p != nil {
			return p
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	body := batchBody{DryRun: dry, Changed: []batchChanged{}, Unchanged: []int64{}, Refused: []batchRefused{}}
	var had befores
	var entries []accountstore.AuditEntry
	var related []uptime.Target
	var previews fewPreviews
	for _, o := range outcomes {
		if was := before[o.ID]; o.Changed && was.ParentID != o.Target.ParentID {
			related = append(related, was, o.Target)
		}
	}
	parents := a.parentsOf(ctx, related...)
	for _, o := range outcomes {
		switch {
		case o.Err != nil:
			body.Refused = append(body.Refused, batchRefused{o.ID, problemOf(o.Err)})
			continue
		case !o.Changed:
			body.Unchanged = append(body.Unchanged, o.ID)
			continue
		}
		changed := batchChanged{ID: o.ID, SpecVersion: o.Target.SpecVersion}
		members := had.add(before[o.ID], o.Target)
		if !dry {
			a.Hub.Upsert(o.Target)
			a.Recent.Forget(o.ID)
			a.After.Add(livefeed.Change{TargetID: o.ID, Op: opUpdated, Seq: o.Target.SpecVersion})
			entry := a.entry(ctx, "target."+opUpdated, targetObject(o.ID), o.Target.Name)
			changes := rescheduled(before[o.ID], o.Target)
			if len(changes) < members {
				changes = revisionOf(before[o.ID], o.Target, parents)
			}
			entry.Changes = revised(changes)
			entries = append(entries, entry)
			if !visitedAlike(before[o.ID], o.Target) {
				changed.PreviewCheckID = previews.of(ctx, a, o.Target)
			}
		}
		body.Changed = append(body.Changed, changed)
	}
	slices.Reverse(had.groups) // who made room for others goes back after them
	body.Before = orEmpty(had.groups)
	a.auditAll(ctx, entries)
	if dry {
		unwritten(ctx)
	}
	return &batchOutput{body}, nil
}

func batchMistakes(q BatchInput, cleared nulls) []Mistake {
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
	case len(cleared) == 0 && reflect.ValueOf(*q.Set).IsZero():
		found = append(found, Mistake{Pointer: "/set", Code: codeRequired, Message: "say what is to be changed"})
	default:
		found = append(found, parseTags("/set/add_tags", &q.Set.AddTags)...)
		found = append(found, parseTags("/set/remove_tags", &q.Set.RemoveTags)...)
	}
	return found
}

// parseTags puts a list into order.
func parseTags(pointer string, tags *[]string) (found []Mistake) {
	if len(*tags) > uptime.MaxTags {
		return []Mistake{{Pointer: pointer, Code: codeTooLong, Message: fmt.Sprintf("at most %d tags at a time", uptime.MaxTags)}}
	}
	parsed, bad := uptime.ParseTags(*tags)
	for _, i := range bad {
		found = append(found, Mistake{Pointer: fmt.Sprintf("%s/%d", pointer, i), Code: codeInvalidText, Message: uptime.TagRule})
	}
	*tags = parsed
	return found
}
