package httpapi

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/probefleet/probefleet/dashboard-api/internal/statuspage"
	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/pagestore"
	"github.com/probefleet/probefleet/internal/spec"
	"github.com/probefleet/probefleet/internal/uptime"
)

// PageInput is what may be set on a status page. On PATCH what is absent stays, and null goes
// back to the default.
type PageInput struct {
	Slug          *string      `json:"slug,omitempty" maxLength:"63" example:"main" doc:"The page is at /s/SLUG: a-z, 0-9 and -."`
	Host          *string      `json:"host,omitempty" maxLength:"253" example:"status.example.com" doc:"A host name of its own, on which it is at / as well."`
	Published     *bool        `json:"published,omitempty" doc:"False: a draft, which nobody sees. Default false."`
	Title         *string      `json:"title,omitempty" maxLength:"120"`
	Description   *string      `json:"description,omitempty" maxLength:"500"`
	Theme         *string      `json:"theme,omitempty" enum:"auto,light,dark" doc:"Default auto: as the reader's system."`
	Accent        *string      `json:"accent,omitempty" example:"#0b57d0" doc:"Colour of links in the light theme; it must contrast 4.5 to 1 with white."`
	AccentDark    *string      `json:"accent_dark,omitempty" example:"#8ab4f8" doc:"The same for the dark theme."`
	Language      *string      `json:"language,omitempty" example:"en" doc:"Of the page's own words. Default en."`
	Zone          *string      `json:"zone,omitempty" example:"Europe/Berlin" doc:"IANA time zone of its days and times. Default UTC."`
	Password      *string      `json:"password,omitempty" writeOnly:"true" doc:"Who wants to see the page must know it: 8 to 200 characters. null: nobody must."`
	Allow         []string     `json:"allow,omitempty" maxItems:"100" nullable:"true" example:"[\"192.0.2.0/24\"]" doc:"Only these addresses and ranges may see it. Empty: all may."`
	ShowIncidents *bool        `json:"show_incidents,omitempty" doc:"Show the incidents of its targets by the names of their components. Default false."`
	ByEmail       *bool        `json:"subscribe_email,omitempty" doc:"People may subscribe by e-mail; only where mail_missing is null. Default false."`
	ByWebhook     *bool        `json:"subscribe_webhook,omitempty" doc:"People may have a webhook of theirs told. Default false."`
	Groups        []GroupInput `json:"groups,omitempty" maxItems:"50" nullable:"true" doc:"Replaces the groups of before as a whole."`
}

// GroupInput is components under one heading.
type GroupInput struct {
	Name       *string          `json:"name,omitempty" maxLength:"120" doc:"Empty: no heading."`
	Components []ComponentInput `json:"components,omitempty"`
}

// ComponentInput is a line of a page.
type ComponentInput struct {
	ID          *int64   `json:"id,omitempty" doc:"That of the component it was; absent: it is a new one."`
	Name        *string  `json:"name,omitempty" maxLength:"120"`
	Description *string  `json:"description,omitempty" maxLength:"500"`
	Rule        *string  `json:"rule,omitempty" enum:"worst,majority,manual" doc:"How the states of its targets become its own. Default worst."`
	State       *string  `json:"state,omitempty" enum:"up,degraded,down,maintenance,no_data" doc:"Of the rule manual."`
	TargetIDs   []int64  `json:"target_ids,omitempty" maxItems:"100"`
	Tags        []string `json:"tags,omitempty" maxItems:"10" doc:"Besides, the targets that carry all of these tags, as they come and go."`
}

// Bounds of a page.
const (
	maxSlug         = 63
	maxSentence     = 500
	maxGroups       = 50
	maxComponents   = 200
	maxBound        = 100 // targets of a component
	maxAllow        = 100
	minPagePassword = 8
	maxPagePassword = 200
)

var (
	goodSlug = regexp.MustCompile(`^[a-z0-9]([a-z0-9-]*[a-z0-9])?$`)
	goodHost = regexp.MustCompile(`^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)
)

// pageMerger lays a document over a page, and gathers what is wrong with it.
type pageMerger struct {
	page      *pagestore.Page
	dashboard string // its URL
	found     []Mistake
}

func (m *pageMerger) mistake(pointer, code, format string, args ...any) {
	m.found = append(m.found, Mistake{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, args...)})
}

// set takes a text in, or the default for null.
func set(into *string, in *string, null bool, fallback string) {
	switch {
	case in != nil:
		*into = strings.TrimSpace(*in)
	case null:
		*into = fallback
	}
}

func (m *pageMerger) merge(in PageInput, null nulls) []Mistake {
	p, t := m.page, &m.page.Terms
	set(&p.Slug, in.Slug, null["slug"], "")
	set(&p.Host, in.Host, null["host"], "")
	set(&t.Title, in.Title, null["title"], "")
	set(&t.Description, in.Description, null["description"], "")
	set(&t.Theme, in.Theme, null["theme"], pagestore.ThemeAuto)
	set(&t.Accent, in.Accent, null["accent"], "")
	set(&t.AccentDark, in.AccentDark, null["accent_dark"], "")
	set(&t.Language, in.Language, null["language"], "en")
	set(&t.Zone, in.Zone, null["zone"], "UTC")
	if in.Published != nil || null["published"] {
		p.Published = deref(in.Published)
	}
	if in.ShowIncidents != nil || null["show_incidents"] {
		t.ShowIncidents = deref(in.ShowIncidents)
	}
	if null["password"] {
		t.PasswordHash = ""
	}
	if in.Allow != nil || null["allow"] {
		t.Allow = in.Allow
	}
	if in.ByEmail != nil || null["subscribe_email"] {
		t.ByEmail = deref(in.ByEmail)
	}
	if in.ByWebhook != nil || null["subscribe_webhook"] {
		t.ByWebhook = deref(in.ByWebhook)
	}
	if in.Groups != nil || null["groups"] {
		m.groups(in.Groups)
	}
	m.judge(in.Password)
	return m.found
}

func (m *pageMerger) judge(password *string) {
	p, t := m.page, &m.page.Terms
	p.Host = strings.ToLower(strings.TrimSuffix(p.Host, "."))
	switch {
	case p.Slug == "":
		m.found = append(m.found, needed("/slug"))
	case len(p.Slug) > maxSlug || !goodSlug.MatchString(p.Slug):
		m.mistake("/slug", codeInvalidText, "want at most %d of a-z, 0-9 and -, with no - at an end", maxSlug)
	}
	if err := statuspage.JudgeHost(p.Host, m.dashboard); p.Host != "" && err != nil {
		m.mistake("/host", codeInvalidText, "%v", err)
	} else if p.Host != "" && (len(p.Host) > 253 || !goodHost.MatchString(p.Host)) {
		m.mistake("/host", codeInvalidText, "want a host name such as status.example.com, without a port")
	}
	m.text("/title", t.Title, maxName, true)
	m.text("/description", t.Description, maxSentence, false)
	if !slices.Contains([]string{pagestore.ThemeAuto, pagestore.ThemeLight, pagestore.ThemeDark}, t.Theme) {
		m.mistake("/theme", spec.CodeUnknownValue, "want auto, light or dark")
	}
	m.colour("/accent", t.Accent, statuspage.SurfaceLight)
	m.colour("/accent_dark", t.AccentDark, statuspage.SurfaceDark)
	if !slices.Contains(statuspage.Languages(), t.Language) {
		m.mistake("/language", spec.CodeUnknownValue, "want one of %s", strings.Join(statuspage.Languages(), ", "))
	}
	if _, err := availability.Zone(t.Zone); err != nil {
		m.mistake("/zone", codeUnknownZone, "want an IANA name such as Europe/Berlin")
	}
	if n := utf8.RuneCountInString(deref(password)); password != nil && (n < minPagePassword || n > maxPagePassword) {
		m.mistake("/password", spec.CodeOutOfRange, "want %d to %d characters", minPagePassword, maxPagePassword)
	}
	if len(t.Allow) > maxAllow {
		m.mistake("/allow", spec.CodeTooMany, "want at most %d", maxAllow)
	}
	for i, text := range t.Allow {
		prefix, err := statuspage.Range(text)
		if err != nil {
			m.mistake("/allow/"+strconv.Itoa(i), codeInvalidText, "want an address or a range such as 192.0.2.0/24")
			continue
		}
		t.Allow[i] = prefix.String()
	}
}

func (m *pageMerger) text(pointer, text string, most int, required bool) {
	switch {
	case required && text == "":
		m.found = append(m.found, needed(pointer))
	case utf8.RuneCountInString(text) > most:
		m.mistake(pointer, codeTooLong, "want at most %d characters", most)
	case strings.ContainsFunc(text, unicode.IsControl):
		m.mistake(pointer, codeInvalidText, "want no control characters")
	}
}

// colour refuses what could not be read on a surface, with the ratio that was measured.
func (m *pageMerger) colour(pointer, colour, surface string) {
	if colour == "" {
		return
	}
	ratio, err := statuspage.Contrast(colour, surface)
	switch {
	case err != nil:
		m.mistake(pointer, codeInvalidText, "want a colour such as #0b57d0")
	case ratio < statuspage.MinContrast:
		m.mistake(pointer, codeContrast, "this could not be read: it contrasts %.2f to 1 with %s, and %.1f is the least", ratio, surface, statuspage.MinContrast)
	}
}

func (m *pageMerger) groups(in []GroupInput) {
	known, used, n := map[int64]bool{}, map[int64]bool{}, 0
	for _, c := range m.page.Components() {
		known[c.ID] = true
	}
	if len(in) > maxGroups {
		m.mistake("/groups", spec.CodeTooMany, "want at most %d groups", maxGroups)
	}
	groups := make([]pagestore.Group, len(in))
	for i, group := range in {
		at := fmt.Sprintf("/groups/%d", i)
		groups[i].Name = strings.TrimSpace(deref(group.Name))
		m.text(at+"/name", groups[i].Name, maxName, false)
		groups[i].Components = make([]pagestore.Component, len(group.Components))
		for j, c := range group.Components {
			at := fmt.Sprintf("%s/components/%d", at, j)
			if id := deref(c.ID); c.ID != nil && (!known[id] || used[id]) {
				m.mistake(at+"/id", codeNotFound, "this page has no such component, or it is here twice: leave the id of a new one out")
			}
			used[deref(c.ID)] = true
			groups[i].Components[j] = m.component(at, c)
			n++
		}
	}
	if n > maxComponents {
		m.mistake("/groups", spec.CodeTooMany, "want at most %d components", maxComponents)
	}
	m.page.Terms.Groups = groups
}

func (m *pageMerger) component(at string, in ComponentInput) pagestore.Component {
	c := pagestore.Component{ID: deref(in.ID), Name: strings.TrimSpace(deref(in.Name)), Description: strings.TrimSpace(deref(in.Description)), Rule: pagestore.RuleWorst, State: deref(in.State), Targets: in.TargetIDs}
	set(&c.Rule, in.Rule, false, "")
	m.text(at+"/name", c.Name, maxName, true)
	m.text(at+"/description", c.Description, maxSentence, false)
	if len(c.Targets) > maxBound {
		m.mistake(at+"/target_ids", spec.CodeTooMany, "want at most %d targets", maxBound)
	}
	c.Tags = m.tags(at, in.Tags)
	switch c.Rule {
	case pagestore.RuleManual:
		if !slices.Contains(pageStates(), c.State) {
			m.mistake(at+"/state", spec.CodeUnknownValue, "say how it is: %s", strings.Join(pageStates(), ", "))
		}
	case pagestore.RuleWorst, pagestore.RuleMajority:
		if c.State != "" {
			m.mistake(at+"/state", spec.CodeConflict, "a state goes with the rule manual")
		}
	default:
		m.mistake(at+"/rule", spec.CodeUnknownValue, "want worst, majority or manual")
	}
	return c
}

// maxTags is how many tags of a component there may be.
const maxTags = 10

func (m *pageMerger) tags(at string, in []string) []string {
	if len(in) > maxTags {
		m.mistake(at+"/tags", spec.CodeTooMany, "want at most %d tags", maxTags)
		return nil
	}
	tags, bad := uptime.ParseTags(in)
	for _, i := range bad {
		m.mistake(fmt.Sprintf("%s/tags/%d", at, i), codeInvalidText, uptime.TagRule)
	}
	return tags
}

// pageStates are what a component can be said to be.
func pageStates() []string {
	return []string{pagestore.Up, pagestore.Degraded, pagestore.Down, pagestore.Maintenance, pagestore.NoData}
}

// pageBody is a status page in answers.
type pageBody struct {
	ID            int64            `json:"id"`
	Slug          string           `json:"slug"`
	Host          nullable[string] `json:"host"`
	Published     bool             `json:"published"`
	Title         string           `json:"title"`
	Description   string           `json:"description"`
	Theme         string           `json:"theme"`
	Accent        nullable[string] `json:"accent" doc:"null: ours"`
	AccentDark    nullable[string] `json:"accent_dark"`
	Language      string           `json:"language"`
	Zone          string           `json:"zone"`
	HasPassword   bool             `json:"has_password"`
	Allow         []string         `json:"allow" nullable:"false"`
	ShowIncidents bool             `json:"show_incidents"`
	ByEmail       bool             `json:"subscribe_email"`
	ByWebhook     bool             `json:"subscribe_webhook"`
	MailMissing   nullable[string] `json:"mail_missing" doc:"why nobody can subscribe by e-mail, whatever subscribe_email says; null: they can"`
	Groups        []pageGroup      `json:"groups" nullable:"false"`
	Version       int64            `json:"version"`
	CreatedAt     instant          `json:"created_at"`
	UpdatedAt     instant          `json:"updated_at"`
}

type pageGroup struct {
	Name       string          `json:"name"`
	Components []pageComponent `json:"components" nullable:"false"`
}

type pageComponent struct {
	ID          int64            `json:"id"`
	Name        string           `json:"name"`
	Description string           `json:"description"`
	Rule        string           `json:"rule"`
	State       nullable[string] `json:"state" doc:"of the rule manual"`
	TargetIDs   []int64          `json:"target_ids" nullable:"false" doc:"a target that is deleted goes from here"`
	Tags        []string         `json:"tags" nullable:"false"`
	MemberIDs   []int64          `json:"member_ids" nullable:"false" doc:"the targets that carry all of the tags now"`
}

func (a *api) pageBody(p pagestore.Page) pageBody {
	t := p.Terms
	body := pageBody{
		ID: p.ID, Slug: p.Slug, Host: maybeText(p.Host), Published: p.Published, Title: t.Title, Description: t.Description, Theme: t.Theme, Accent: maybeText(t.Accent), AccentDark: maybeText(t.AccentDark),
		Language: t.Language, Zone: zoneName(t.Zone), HasPassword: t.PasswordHash != "", Allow: orEmpty(t.Allow), ShowIncidents: t.ShowIncidents, ByEmail: t.ByEmail, ByWebhook: t.ByWebhook, Groups: []pageGroup{},
		Version: p.Version, CreatedAt: instant(p.CreatedAt), UpdatedAt: instant(p.UpdatedAt),
	}
	if !a.MailReady {
		body.MailMissing = some("no mail server is set up: set API_SMTP_URL and API_SMTP_FROM on every node of the API")
	}
	for _, g := range t.Groups {
		group := pageGroup{Name: g.Name, Components: []pageComponent{}}
		for _, c := range g.Components {
			group.Components = append(group.Components, pageComponent{c.ID, c.Name, c.Description, c.Rule, maybeText(c.State), orEmpty(c.Targets), orEmpty(c.Tags), orEmpty(c.Members)})
		}
		body.Groups = append(body.Groups, group)
	}
	return body
}

func maybeText(text string) nullable[string] {
	if text == "" {
		return nullable[string]{}
	}
	return some(text)
}
