package httpapi

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/probefleet/probefleet/internal/spec"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// checkDocument is the document of a check on demand: that of a target, without what only
// a saved one has. With target_id it is an edit of that target, and as little is saved.
type checkDocument struct{ raw []byte }

func (d *checkDocument) keep(raw []byte) { d.raw = bytes.Clone(raw) }

// onlyOfSaved are the members of a target's document that a check does not have.
var onlyOfSaved = [...]string{"name", "interval_s", "active", "policy"}

// memberTarget names the saved target that a check begins with.
const memberTarget = "target_id"

// Schema is that of a target's document, less these members.
func (checkDocument) Schema(r huma.Registry) *huma.Schema {
	const name = "CheckInput"
	if _, made := r.Map()[name]; !made {
		whole := *r.SchemaFromRef(r.Schema(reflect.TypeFor[TargetInput](), true, "").Ref)
		whole.Properties = maps.Clone(whole.Properties)
		for _, member := range onlyOfSaved {
			delete(whole.Properties, member)
		}
		least := float64(1)
		whole.Properties[memberTarget] = &huma.Schema{
			Type: huma.TypeInteger, Format: "int64", Minimum: &least,
			Description: "A saved target that the rest is laid over, as PATCH would: alone, the check is that target as it is. Its secrets are sent along, and as with PATCH only to the host that they were written for.",
		}
		whole.Required = slices.DeleteFunc(slices.Clone(whole.Required), func(member string) bool { return slices.Contains(onlyOfSaved[:], member) })
		r.Map()[name] = &whole
	}
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}

// split takes target_id out of the document; it is 0 when there is none.
func (d checkDocument) split() (rest document[TargetInput], id int64, found []Mistake) {
	rest = document[TargetInput](d)
	var members map[string]json.RawMessage
	if json.Unmarshal(d.raw, &members) != nil || members[memberTarget] == nil {
		return rest, 0, nil // what is wrong with it is said of the rest
	}
	given := members[memberTarget]
	delete(members, memberTarget)
	rest.raw, _ = json.Marshal(members) // it was read from JSON
	var number *int64
	switch err := json.Unmarshal(given, &number); {
	case err != nil || number == nil:
		found = []Mistake{{Pointer: "/" + memberTarget, Code: codeInvalidType, Message: "must be " + kindName(reflect.Int64)}}
	case *number < 1:
		found = noSuchTarget()
	default:
		id = *number
	}
	return rest, id, found
}

func noSuchTarget() []Mistake {
	return []Mistake{{Pointer: "/" + memberTarget, Code: codeNotFound, Message: "there is no such target"}}
}

// unsavedTarget judges the document of a check as if it were a target to save, or an edit of
// one: so who may edit a target has its secrets sent where saving would send them, and nowhere
// else. Of what it gives the URL, kind, timeout, spec and regions count, and the id it began with.
func (a *api) unsavedTarget(ctx context.Context, d checkDocument) (uptime.Target, error) {
	rest, id, found := d.split()
	target, around := newTarget(), a.surroundings()
	if id != 0 {
		saved, err := a.Targets.Get(ctx, id)
		switch {
		case errors.Is(err, targetstore.ErrNotFound):
			found = noSuchTarget()
		case err != nil:
			return uptime.Target{}, err
		default:
			target = saved
		}
	}
	if len(found) > 0 {
		return uptime.Target{}, mistakes(found)
	}
	p := read(rest, func(fields TargetInput, null nulls) (found []Mistake) {
		for member, given := range map[string]bool{"name": fields.Name != nil, "interval_s": fields.IntervalS != nil, "active": fields.Active != nil, "policy": fields.Policy != nil} {
			if given || null[member] {
				found = append(found, Mistake{Pointer: "/" + member, Code: codeUnknownField, Message: "a check on demand has no " + member})
			}
		}
		slices.SortFunc(found, func(a, b Mistake) int { return strings.Compare(a.Pointer, b.Pointer) })
		fields.Name, fields.IntervalS, fields.Active, fields.Policy = nil, nil, nil, nil
		found = append(found, merge(&target, fields, null, around)...)
		if !target.Kind.Probed() {
			found = append(found, Mistake{Pointer: "/url", Code: spec.CodeNotOfKind, Message: "a heartbeat is pinged by its job: there is nothing to check on demand"})
		}
		return found
	})
	if p != nil {
		return uptime.Target{}, p
	}
	return target, nil
}
