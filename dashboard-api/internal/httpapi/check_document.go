package httpapi

import (
	"bytes"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/danielgtaylor/huma/v2"

	"github.com/probefleet/probefleet/internal/spec"
	"github.com/probefleet/probefleet/internal/uptime"
)

// checkDocument is the document of a check on demand: that of a target, without what only
// a saved one has.
type checkDocument struct{ raw []byte }

func (d *checkDocument) keep(raw []byte) { d.raw = bytes.Clone(raw) }

// onlyOfSaved are the members of a target's document that a check does not have.
var onlyOfSaved = [...]string{"name", "interval_s", "active", "policy"}

// Schema is that of a target's document, less these members.
func (checkDocument) Schema(r huma.Registry) *huma.Schema {
	const name = "CheckInput"
	if _, made := r.Map()[name]; !made {
		whole := *r.SchemaFromRef(r.Schema(reflect.TypeFor[TargetInput](), true, "").Ref)
		whole.Properties = maps.Clone(whole.Properties)
		for _, member := range onlyOfSaved {
			delete(whole.Properties, member)
		}
		whole.Required = slices.DeleteFunc(slices.Clone(whole.Required), func(member string) bool { return slices.Contains(onlyOfSaved[:], member) })
		r.Map()[name] = &whole
	}
	return &huma.Schema{Ref: "#/components/schemas/" + name}
}

// unsavedTarget judges the document of a check as if it were a target to save. Of what it
// gives the URL, kind, timeout, spec and regions count.
func (a *api) unsavedTarget(d checkDocument) (uptime.Target, error) {
	target, around := newTarget(), a.surroundings()
	p := read(document[TargetInput](d), func(fields TargetInput, null nulls) (found []Mistake) {
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
