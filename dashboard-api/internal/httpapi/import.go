package httpapi

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"golang.org/x/sync/semaphore"

	"github.com/probefleet/probefleet/internal/spec"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

const (
	maxImport      = 10_000  // targets of one file
	maxImportBody  = 8 << 20 // and its size
	importPatience = time.Minute
	importWaits    = 10 * time.Second // for the one before it
	askAgainEvery  = 100              // targets, between two looks at whether the caller still may
	askAgainAfter  = 2 * time.Second  // and the time between them, however slowly the answer is read

	rehearsalWithin = 5 * time.Minute
)

// What becomes of a line.
const (
	lineCreated   = "created"
	lineChanged   = "changed"
	lineUnchanged = "unchanged"
	lineRefused   = "refused"
)

// ImportInput is a file of targets: what an export has written, or CSV.
type ImportInput struct {
	DryRun     *bool             `json:"dry_run,omitempty" doc:"Judge everything, and write nothing."`
	Targets    []json.RawMessage `json:"targets,omitempty" maxItems:"10000" nullable:"false" doc:"As POST /targets takes each, and parent: the name of the target that it depends on. What is absent stays as it is, of a new one it is the default."`
	CSV        *string           `json:"csv,omitempty" doc:"Instead of targets: a table whose first line names columns of url, name, kind, interval_s, timeout_ms, regions, tags, active, family, parent. Regions and tags have spaces between them. An empty name, kind, interval_s, timeout_ms or active is as if it were absent."`
	Format     *string           `json:"format,omitempty" doc:"That of an export, which can be sent as it is."`
	ExportedAt *string           `json:"exported_at,omitempty" doc:"Of an export; not looked at, like the two below."`
	Secrets    *string           `json:"secrets,omitempty"`
	Count      *int64            `json:"count,omitempty"`
}

// importOutcome is what became of one line, or would.
type importOutcome struct {
	Line    int            `json:"line"` // of CSV that of the file, of JSON the place in the list; from 1
	URL     string         `json:"url"`
	Name    string         `json:"name"`
	Outcome string         `json:"outcome"`
	ID      int64          `json:"id,omitempty"` // unless it is not there yet
	Changes []importChange `json:"changes,omitempty"`
	Problem *Problem       `json:"problem,omitempty"` // what a POST or PATCH would have been answered

	PreviewCheckID string `json:"preview_check_id,omitempty"` // as in the answer to a POST or PATCH
}

// importEnd is the last line of an answer that is whole.
type importEnd struct {
	DryRun    bool     `json:"dry_run"`
	Created   int      `json:"created"`
	Changed   int      `json:"changed"`
	Unchanged int      `json:"unchanged"`
	Refused   int      `json:"refused"`
	Stopped   *Problem `json:"stopped,omitempty"` // why nothing more was done
}

func (e *importEnd) count(outcome string) {
	switch outcome {
	case lineCreated:
		e.Created++
	case lineChanged:
		e.Changed++
	case lineUnchanged:
		e.Unchanged++
	default:
		e.Refused++
	}
}

// importTargets makes and changes targets as a file says, one after the other, and answers a line of
// JSON for each as it is done. A dry run does the same to copies of the tables.
func (a *api) importTargets(ctx context.Context, in *struct{ Body document[ImportInput] }) (*huma.StreamResponse, error) {
	var q ImportInput
	var lines []importLine
	if p := read(in.Body, func(fields ImportInput, _ nulls) (found []Mistake) {
		q = fields
		lines, found = importLines(fields)
		return found
	}); p != nil {
		return nil, p
	}
	if p := importTurn(ctx, a.importing); p != nil {
		return nil, p
	}
	run, err := a.newImport(ctx, lines)
	if err != nil {
		a.importing.Release(1)
		return nil, err
	}
	if run.dry = deref(q.DryRun); run.dry {
		unwritten(ctx)
	}
	return &huma.StreamResponse{Body: func(hc huma.Context) {
		defer a.importing.Release(1)
		r, w := humago.Unwrap(hc)
		out := beginImport(w)
		end, asked := importEnd{DryRun: run.dry}, lastAsked{at: time.Now()}
		err := run.write(r.Context(), func(o importOutcome) error {
			end.count(o.Outcome)
			if err := out.write(o); err != nil {
				return err
			}
			if asked.longAgo() {
				return a.again(r.Context(), Editor, "POST "+importPath)
			}
			return nil
		})
		if err != nil {
			end.Stopped = a.logged(r.Context(), problemOf(err))
		}
		_ = out.write(map[string]importEnd{"complete": end}) // who has left is told nothing
	}}, nil
}

// lastAsked is when it was asked last whether the caller still may.
type lastAsked struct {
	at    time.Time
	lines int // since
}

// longAgo says, after a line, whether it is to be asked again, and takes it that it is.
func (l *lastAsked) longAgo() bool {
	if l.lines++; l.lines < askAgainEvery && time.Since(l.at) < askAgainAfter {
		return false
	}
	*l = lastAsked{at: time.Now()}
	return true
}

// importTurn waits for the import before, which is over soon if it is one that a person judges.
func importTurn(ctx context.Context, importing *semaphore.Weighted) *Problem {
	ctx, cancel := context.WithTimeout(ctx, importWaits)
	defer cancel()
	if importing.Acquire(ctx, 1) != nil {
		return problem(http.StatusServiceUnavailable, codeUnavailable, "another import is under way: try again").retryAfter(retryWhenDown)
	}
	return nil
}

// importAnswer writes lines, each sent at once.
type importAnswer struct{ *exportWriter }

func beginImport(w http.ResponseWriter) importAnswer {
	e := exportOf(w, &exportInput{Format: "ndjson"})
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Accel-Buffering", "no") // proxies that gather answers would hold it back
	e.json = json.NewEncoder(e.lines)
	e.json.SetEscapeHTML(false)
	return importAnswer{e}
}

func (o importAnswer) write(line any) error {
	if err := o.json.Encode(line); err != nil {
		return err
	}
	return o.send()
}

// targetWriter is a store, or the rehearsal of one.
type targetWriter interface {
	Create(context.Context, uptime.Target) (uptime.Target, error)
	Update(ctx context.Context, id, ifVersion int64, change func(*uptime.Target) error) (uptime.Target, error)
}

// known is a target that an import finds.
type importKnown struct {
	id   int64
	name string
}

// importRun is an import under way. A line is about the target of its URL. Where several have that
// URL, or the file has it several times, it is about the one that has its name, too.
type importRun struct {
	a      *api
	dry    bool
	around surroundings
	lines  []importLine
	byURL  map[string][]importKnown
	ids    map[string]int64      // by name
	names  map[int64]string      // by id
	urls   map[string]int        // how many lines have it
	about  map[int64]int         // the line that a target was found by
	made   map[string]int        // the line that makes a target, by URL and name
	first  map[string]importLine // that has a name
	wait   map[string]int        // how many lines with this name are still to come

	previews fewPreviews
}

func (a *api) newImport(ctx context.Context, lines []importLine) (*importRun, error) {
	r := &importRun{
		a: a, around: a.surroundings(), lines: lines, byURL: map[string][]importKnown{}, ids: map[string]int64{}, names: map[int64]string{},
		urls: map[string]int{}, about: map[int64]int{}, made: map[string]int{}, first: map[string]importLine{}, wait: map[string]int{},
	}
	err := a.Targets.Each(ctx, func(t uptime.Target) error {
		key := urlKey(t.URL)
		r.byURL[key] = append(r.byURL[key], importKnown{t.ID, t.Name})
		r.ids[t.Name], r.names[t.ID] = t.ID, t.Name
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i := range lines {
		l := &lines[i]
		l.url, l.kind = l.judgedURL(r.around)
		r.urls[urlKey(l.url)]++
		r.wait[l.name()]++
		if _, there := r.first[l.name()]; l.named() && !there {
			r.first[l.name()] = *l
		}
	}
	return r, nil
}

// write goes through the lines, or rehearses it.
func (r *importRun) write(ctx context.Context, done func(importOutcome) error) error {
	if !r.dry {
		return r.all(ctx, r.a.Targets, done)
	}
	ctx, cancel := context.WithTimeout(ctx, rehearsalWithin) // copies of tables are kept for no reader who has fallen asleep
	defer cancel()
	return r.a.Targets.Rehearse(ctx, func(w *targetstore.Rehearsal) error { return r.all(ctx, w, done) })
}

// all goes through the lines: a target comes after the one that it depends on. It ends with an error
// that is none of a line's.
func (r *importRun) all(ctx context.Context, w targetWriter, done func(importOutcome) error) error {
	for pending := r.lines; len(pending) > 0; {
		var later []importLine
		for _, l := range pending {
			if err := ctx.Err(); err != nil {
				return err
			}
			if r.mustWait(l) && len(later) < len(pending)-1 {
				later = append(later, l)
				continue
			}
			r.wait[l.name()]--
			o, err := r.line(ctx, w, l)
			if err != nil {
				return err
			}
			if err := done(o); err != nil {
				return err
			}
		}
		pending = later
	}
	return nil
}

// mustWait says whether a line depends on a target that one still to come makes.
func (r *importRun) mustWait(l importLine) bool {
	_, there := r.ids[l.parent]
	return l.parent != "" && !there && l.parent != l.name() && r.wait[l.parent] > 0
}

// line writes one. Its error is one of the store, not of the line.
func (r *importRun) line(ctx context.Context, w targetWriter, l importLine) (importOutcome, error) {
	o := importOutcome{Line: l.number, URL: l.shownURL(), Name: l.name()}
	found, p := r.match(l)
	if p == nil {
		var err error
		if found.id == 0 {
			err = r.create(ctx, w, l, &o)
		} else {
			err = r.update(ctx, w, l, found, &o)
		}
		if err == nil {
			return o, nil
		}
		if p = problemOf(err); p.Status >= http.StatusInternalServerError || ctx.Err() != nil {
			return o, err
		}
	}
	o.Outcome, o.Problem, o.ID = lineRefused, p, found.id
	return o, nil
}

// match finds the target that a line is about; id 0: none yet.
func (r *importRun) match(l importLine) (importKnown, *Problem) {
	if l.url == "" {
		return importKnown{}, nil // its mistakes are told when it is merged
	}
	name := l.name()
	if first := r.first[name]; l.named() && first.number < l.number && urlKey(first.url) != urlKey(l.url) {
		return importKnown{}, mistakes([]Mistake{{Pointer: "/name", Code: codeDuplicateName, Message: fmt.Sprintf("line %d has this name", first.number)}})
	}
	address := urlKey(l.url)
	candidates := r.byURL[address]
	i := slices.IndexFunc(candidates, func(k importKnown) bool { return k.name == name })
	switch {
	case i < 0 && len(candidates) == 1 && r.urls[address] == 1:
		i = 0
	case i < 0 && len(candidates) > 1 && !l.named():
		return importKnown{}, mistakes([]Mistake{{Pointer: "/name", Code: codeRequired, Message: "several targets have this url: say by its name which one is meant"}})
	}
	if i < 0 {
		key := address + "\n" + name
		if first, twice := r.made[key]; twice {
			return importKnown{}, sameAs(first)
		}
		r.made[key] = l.number
		return importKnown{}, nil
	}
	found := candidates[i]
	if first, twice := r.about[found.id]; twice {
		return found, sameAs(first)
	}
	r.about[found.id] = l.number
	return found, nil
}

// urlKey is the same for addresses that are visited alike: with and without the path /.
func urlKey(text string) string {
	if u, err := url.Parse(text); err == nil && u.Path == "/" && u.RawQuery == "" {
		return strings.TrimSuffix(text, "/")
	}
	return text
}

func sameAs(line int) *Problem {
	return mistakes([]Mistake{{Pointer: "/url", Code: "duplicate_line", Message: fmt.Sprintf("line %d is about the same target", line)}})
}

// over lays a line over a target.
func (r *importRun) over(t *uptime.Target, l importLine) error {
	if p := read(l.fields, func(in TargetInput, null nulls) []Mistake {
		found := slices.Clone(l.found)
		if l.parentSaid {
			if in.ParentID != nil {
				found = append(found, Mistake{Pointer: "/parent_id", Code: codeInvalidParameter, Message: "say either parent or parent_id"})
			}
			id, there := r.ids[l.parent]
			switch {
			case l.parent == "":
				null["parent_id"] = true
			case !there:
				found = append(found, Mistake{Pointer: "/parent", Code: codeNotFound, Message: "there is no target of this name"})
			default:
				in.ParentID = &id
			}
		}
		if t.URL != "" {
			in.URL = nil // by which it was found
		}
		return append(found, merge(t, in, null, r.around)...)
	}); p != nil {
		return p
	}
	return nil
}

func (r *importRun) create(ctx context.Context, w targetWriter, l importLine, o *importOutcome) error {
	target := newTarget()
	if err := r.over(&target, l); err != nil {
		return err
	}
	created, err := w.Create(ctx, target)
	if err != nil {
		return err
	}
	o.Outcome, o.Name, o.URL = lineCreated, created.Name, created.URL
	r.ids[created.Name], r.names[created.ID] = created.ID, created.Name
	if !r.dry {
		o.ID = created.ID
		r.a.Hub.Upsert(created)
		r.a.changed(ctx, created.ID, opCreated, created.SpecVersion, created.Name, "")
		o.PreviewCheckID = r.previews.of(ctx, r.a, created)
		r.a.begin(ctx, created)
	}
	return nil
}

func (r *importRun) update(ctx context.Context, w targetWriter, l importLine, found importKnown, o *importOutcome) error {
	var before uptime.Target
	updated, err := w.Update(ctx, found.id, 0, func(t *uptime.Target) error {
		before = *t
		return r.over(t, l)
	})
	if err != nil {
		return err
	}
	o.Outcome, o.ID, o.Name, o.URL = lineUnchanged, updated.ID, updated.Name, updated.URL
	if updated.SpecVersion == before.SpecVersion {
		return nil
	}
	delete(r.ids, before.Name)
	r.ids[updated.Name], r.names[updated.ID] = updated.ID, updated.Name
	o.Outcome, o.Changes = lineChanged, fieldsChanged(before, updated, func(id int64) string { return r.names[id] })
	if !r.dry {
		r.a.Hub.Upsert(updated)
		r.a.changed(ctx, updated.ID, opUpdated, updated.SpecVersion, updated.Name, revised(revisionOf(before, updated, func(id int64) string { return r.names[id] })))
		if !visitedAlike(before, updated) {
			o.PreviewCheckID = r.previews.of(ctx, r.a, updated)
		}
	}
	return nil
}

// importLine is a target of a file.
type importLine struct {
	number     int
	fields     document[TargetInput]
	given      TargetInput // what could be read of them
	parent     string      // by name; "": none
	parentSaid bool
	found      []Mistake
	url        string // as it would be stored; "": it cannot be
	kind       uptime.Kind
}

func (l importLine) named() bool { return strings.TrimSpace(deref(l.given.Name)) != "" }

// name is the one it has, or would get.
func (l importLine) name() string {
	if l.named() {
		return strings.TrimSpace(deref(l.given.Name))
	}
	if l.url == "" {
		return ""
	}
	return defaultName(l.url, l.kind)
}

func (l importLine) shownURL() string {
	if l.url == "" {
		return shorten(deref(l.given.URL), 2048)
	}
	return l.url
}

// judgedURL is the url as a target would have it; "" if that is a mistake.
func (l importLine) judgedURL(around surroundings) (string, uptime.Kind) {
	blank := merger{target: &uptime.Target{}}
	given := blank.heartbeatURL(l.given)
	if given == nil {
		return "", ""
	}
	text, kind, bad := spec.URL(*given, around.open)
	if bad != nil {
		return "", ""
	}
	return text, kind
}

// newImportLine reads an object: all but parent is a target's.
func newImportLine(number int, raw json.RawMessage) importLine {
	l := importLine{number: number, fields: document[TargetInput]{raw: raw}}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(raw, &members); err != nil {
		return l // told when it is decoded
	}
	if parent, said := members["parent"]; said {
		delete(members, "parent")
		l.parentSaid = true
		if err := json.Unmarshal(parent, &l.parent); err != nil {
			l.found = append(l.found, Mistake{Pointer: "/parent", Code: codeInvalidType, Message: "must be a text"})
		}
		l.fields.raw, _ = json.Marshal(members) // they were just read
	}
	l.given, _, _ = l.fields.decode()
	return l
}
