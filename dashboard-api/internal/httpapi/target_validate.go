package httpapi

import (
	"fmt"
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/probefleet/probefleet/internal/secret"
	"github.com/probefleet/probefleet/internal/spec"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

const (
	maxName    = 120
	maxRegions = 20
	maxRanges  = 20
)

var regionName = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)

// surroundings are what a target is judged against besides itself.
type surroundings struct {
	regions []string                        // known ones
	open    []netip.Prefix                  // private ranges that some prober may dial
	seal    func(secret.Text) uptime.Sealed // what must not be stored in clear
	now     time.Time
}

// newTarget is a target before anything was said about it.
func newTarget() uptime.Target {
	return uptime.Target{Kind: uptime.KindHTTP, Interval: uptime.DefaultInterval, Active: true}
}

// merge lays an input over a target: absent members stay, nulls become defaults.
// It answers every mistake; with one or more of them the target must not be used.
func merge(t *uptime.Target, in TargetInput, null nulls, around surroundings) []Mistake {
	m := merger{target: t, before: *t, around: around, judgedURL: t.URL}
	if m.unreadable(in, null); len(m.found) > 0 {
		return m.found
	}
	// What stays as it is is not judged again: a newer release may have stored what this one does not know.
	m.same = t.ID != 0 && len(m.visit(in, null)) == 0
	if m.same {
		in.URL, in.Kind = nil, nil
	}
	before, secrets := t.URL, t.Spec.Secrets()
	if t.URL != "" {
		m.judgedKind = t.Kind
	}
	m.url(m.heartbeatURL(in), null["url"])
	m.name(in.Name, null["name"])
	m.kind(in.Kind)
	m.interval(in.IntervalS, null["interval_s"])
	m.timeout(in.TimeoutMS, null["timeout_ms"])
	m.regions(in.Regions, null["regions"])
	if in.ParentID != nil || null["parent_id"] {
		m.parent(deref(in.ParentID), null["parent_id"])
	}
	if in.Tags != nil || null["tags"] {
		m.tags(in.Tags)
	}
	if in.Active != nil || null["active"] {
		t.Active = in.Active == nil || *in.Active
	}
	if in.Policy != nil || null["policy"] {
		m.policy(deref(in.Policy))
	}
	if !m.same {
		m.spec(in, null)
	}
	m.heartbeat(in)
	// Who may edit a target may not read its secrets, and so may not have them sent elsewhere.
	if len(secrets) > 0 && !sameOrigin(before, t.URL) && slices.ContainsFunc(t.Spec.Secrets(), func(s uptime.Sealed) bool { return slices.Contains(secrets, s) }) {
		m.mistake("/url", codeSecretOrigin, "the secrets stored here were written for another host: write them again, or remove them")
	}
	return m.found
}

// sameOrigin says whether two URLs name the same scheme, host and port.
func sameOrigin(a, b string) bool {
	first, err1 := url.Parse(a)
	second, err2 := url.Parse(b)
	return err1 == nil && err2 == nil && first.Scheme == second.Scheme && strings.EqualFold(first.Host, second.Host)
}

// merger lays an input over a target. The spec is judged as one of judgedKind and
// judgedURL, which are empty while what was given there cannot be used.
type merger struct {
	target     *uptime.Target
	before     uptime.Target // as it was
	same       bool          // nothing is said of how it is visited
	around     surroundings
	judgedKind uptime.Kind
	judgedURL  string
	found      []Mistake
}

func (m *merger) mistake(pointer, code, format string, args ...any) {
	m.found = append(m.found, Mistake{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, args...)})
}

func (m *merger) url(in *string, null bool) {
	if in == nil {
		if null || m.target.URL == "" {
			m.mistake("/url", codeRequired, "a target needs a url")
		}
		return
	}
	text, kind, bad := spec.URL(*in, m.around.open)
	m.judgedKind, m.judgedURL = kind, text
	if bad != nil {
		m.problem(*bad)
		return
	}
	m.target.URL, m.target.Kind = text, kind
}

func (m *merger) name(in *string, null bool) {
	given := in != nil && strings.TrimSpace(*in) != ""
	switch {
	case given:
		name := strings.TrimSpace(*in)
		switch {
		case utf8.RuneCountInString(name) > maxName:
			m.mistake("/name", codeTooLong, "a name has at most %d characters", maxName)
		case strings.ContainsFunc(name, unicode.IsControl):
			m.mistake("/name", codeInvalidText, "a name has no control characters in it")
		default:
			m.target.Name = name
		}
	case in != nil || null || m.target.Name == "":
		m.target.Name = defaultName(m.target.URL, m.target.Kind)
	}
}

// defaultName is the host and path of a web URL, the name and type of a DNS question,
// and for the other kinds the kind, too: they stand beside web targets of the same host.
func defaultName(text string, kind uptime.Kind) string {
	u, err := url.Parse(text)
	if err != nil {
		return text
	}
	name := u.Host + strings.TrimSuffix(u.EscapedPath(), "/")
	switch kind {
	case uptime.KindHTTP:
	case uptime.KindDNS:
		name = strings.TrimPrefix(u.Path, "/") + " " + u.Query().Get("type")
		if u.Host != "" {
			name += " at " + u.Host
		}
	default:
		name += " (" + string(kind) + ")"
	}
	return shorten(strings.ToValidUTF8(name, ""), maxName)
}

// kind is that of the URL's scheme; one that is given must agree.
func (m *merger) kind(in *string) {
	switch {
	case in == nil:
	case !slices.Contains(spec.Kinds(), uptime.Kind(*in)):
		m.mistake("/kind", codeUnknownKind, "the kind is one of: %s; leave it out for that of the url", kinds())
	case m.judgedKind == "":
		m.judgedKind = uptime.Kind(*in)
	case m.judgedKind != uptime.Kind(*in):
		m.mistake("/kind", codeKindMismatch, "a target with this url is of kind %s: leave the kind out, or change the url", m.judgedKind)
	}
}

func kinds() string {
	var words []string
	for _, kind := range spec.Kinds() {
		words = append(words, string(kind))
	}
	return strings.Join(words, ", ")
}

func (m *merger) interval(in *int64, null bool) {
	switch {
	case in != nil:
		if least, most := int64(uptime.MinInterval/time.Second), int64(uptime.MaxInterval/time.Second); *in < least || *in > most {
			m.mistake("/interval_s", codeInterval, "an interval is from %d to %d seconds", least, most)
			return
		}
		m.target.Interval = time.Duration(*in) * time.Second
	case null:
		m.target.Interval = uptime.DefaultInterval
	}
}

// timeout keeps one that was set; a new target, and null, get the interval's default.
func (m *merger) timeout(in *int64, null bool) {
	switch {
	case in != nil:
		if least, most := uptime.MinTimeout.Milliseconds(), uptime.MaxTimeout.Milliseconds(); *in < least || *in > most {
			m.mistake("/timeout_ms", codeTimeout, "a timeout is from %d to %d milliseconds", least, most)
			return
		}
		m.target.Timeout = time.Duration(*in) * time.Millisecond
	case null || m.target.Timeout == 0:
		m.target.Timeout = uptime.DefaultTimeout(m.target.Interval)
	}
}

func (m *merger) policy(p verdict.Policy) {
	m.target.Policy = p.Text()
	m.found = append(m.found, mistakesIn(p)...)
}

func (m *merger) regions(in []string, null bool) {
	if in == nil {
		if null {
			m.target.Regions = nil
		}
		return
	}
	if len(in) > maxRegions {
		m.mistake("/regions", codeTooLong, "a target has at most %d regions", maxRegions)
		return
	}
	for i, region := range in {
		pointer := "/regions/" + strconv.Itoa(i)
		switch {
		case !regionName.MatchString(region):
			m.mistake(pointer, codeUnknownRegion, "a region's name is 1 to 32 of a-z, 0-9 and -")
		case slices.Contains(m.target.Regions, region): // it has it already: a retired region may stay
		case !slices.Contains(m.around.regions, region):
			m.mistake(pointer, codeUnknownRegion, "there is no region %s; known: %s", region, known(m.around.regions))
		}
	}
	wanted := slices.Clone(in)
	slices.Sort(wanted)
	m.target.Regions = slices.Compact(wanted)
}

// parent is judged where it is stored: whether it is there, and depends on this target itself.
func (m *merger) parent(id int64, null bool) {
	if id < 1 && !null {
		m.mistake("/parent_id", codeNotFound, "there is no such target")
	}
	m.target.ParentID = id
}

func (m *merger) tags(in []string) {
	if len(in) > uptime.MaxTags {
		m.mistake("/tags", codeTooLong, "a target has at most %d tags", uptime.MaxTags)
		return
	}
	tags, bad := uptime.ParseTags(in)
	for _, i := range bad {
		m.mistake("/tags/"+strconv.Itoa(i), codeInvalidText, uptime.TagRule)
	}
	m.target.Tags = tags
}

func known(regions []string) string {
	if len(regions) == 0 {
		return "none yet (start a prober, or leave regions empty to be checked from all)"
	}
	return strings.Join(regions, ", ")
}

func (m *merger) expect(in *ExpectInput, null bool) {
	if null {
		m.target.Spec.Expect = uptime.Expect{}
	}
	if in == nil || in.Status == nil {
		return
	}
	if len(in.Status) > maxRanges {
		m.mistake("/expect/status", codeTooLong, "at most %d status ranges", maxRanges)
		return
	}
	var ranges []uptime.StatusRange
	for i, text := range in.Status {
		r, err := uptime.ParseStatusRange(text)
		if err != nil {
			m.mistake("/expect/status/"+strconv.Itoa(i), codeStatusRange, "want a code or a range of codes from 100 to 599, such as 204 or 200-399")
		}
		ranges = append(ranges, r)
	}
	m.target.Spec.Expect.Status = ranges
}
