package httpapi

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/dashboard-api/internal/notify"
	"github.com/probefleet/probefleet/internal/incidentstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Bounds of a rule.
const (
	maxInRule   = 100 // tags, targets, channels
	maxWindows  = 50
	maxSteps    = 10
	weekMinutes = 7 * 24 * 60
)

// WindowPart is a stretch of each of some days.
type WindowPart struct {
	Days []string `json:"days,omitempty" enum:"mon,tue,wed,thu,fri,sat,sun" maxItems:"7" doc:"On which it begins. Default every day."`
	From string   `json:"from" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" example:"22:00"`
	To   string   `json:"to" pattern:"^([01][0-9]|2[0-3]):[0-5][0-9]$" example:"07:00" doc:"Not included. On the next day if it is not later than from."`
}

// StepPart tells more people when nobody has acknowledged.
type StepPart struct {
	AfterMinutes int64   `json:"after_minutes" minimum:"1" maximum:"10080" doc:"after the incident was opened"`
	ChannelIDs   []int64 `json:"channel_ids" minItems:"1" maxItems:"100" nullable:"false"`
}

// RuleInput is what may be set on a notification rule. On PATCH what is absent stays, and
// null goes back to the default.
type RuleInput struct {
	Name       *string  `json:"name,omitempty" maxLength:"120" doc:"Unique."`
	Enabled    *bool    `json:"enabled,omitempty" doc:"Default true."`
	Tags       []string `json:"tags,omitempty" maxItems:"100" nullable:"true" doc:"Incidents of targets with one of these. Without tags and target_ids: of all."`
	TargetIDs  []int64  `json:"target_ids,omitempty" maxItems:"100" nullable:"true" doc:"Or of these targets."`
	Severities []string `json:"severities,omitempty" enum:"no_data,degraded,down" nullable:"true" doc:"Default all."`

	Fleet *bool `json:"fleet,omitempty" doc:"Whether to tell what is wrong with the fleet itself: the publisher, a region or the evaluator has stopped, slots cannot be explained. Default: if there are neither tags nor target_ids."`

	Zone             *string      `json:"zone,omitempty" doc:"IANA time zone of the windows. Default UTC." example:"Europe/Berlin"`
	Schedule         []WindowPart `json:"schedule,omitempty" maxItems:"50" nullable:"true" doc:"When the rule speaks. What happens at other times is told at the next, if the incident is not over by then. Default always."`
	QuietHours       []WindowPart `json:"quiet_hours,omitempty" maxItems:"50" nullable:"true" doc:"When it holds back, in the same way."`
	QuietLetsThrough []string     `json:"quiet_lets_through,omitempty" enum:"no_data,degraded,down" nullable:"true" doc:"Severities that are told in quiet hours, too."`

	DigestMinutes    *int64     `json:"digest_minutes,omitempty" minimum:"0" maximum:"1440" doc:"Tell together what happened in so many minutes. Default 0: each at once."`
	ChannelIDs       []int64    `json:"channel_ids,omitempty" maxItems:"100" nullable:"true" doc:"Whom to tell."`
	Escalations      []StepPart `json:"escalations,omitempty" maxItems:"10" nullable:"true" doc:"Whom else, when nobody has acknowledged after some minutes."`
	ReminderMinutes  *int64     `json:"reminder_minutes,omitempty" minimum:"0" maximum:"10080" doc:"Say it again after each so many minutes, until it is acknowledged or over. Default 0: never."`
	SendAcknowledged *bool      `json:"send_acknowledged,omitempty" doc:"Default false."`
	SendResolved     *bool      `json:"send_resolved,omitempty" doc:"Default true."`
}

// alertRuleBody is a notification rule in answers.
type alertRuleBody struct {
	ID               int64          `json:"id"`
	Name             string         `json:"name"`
	Enabled          bool           `json:"enabled"`
	Tags             []string       `json:"tags" nullable:"false"`
	TargetIDs        []int64        `json:"target_ids" nullable:"false"`
	Severities       []string       `json:"severities" nullable:"false" doc:"empty: all"`
	Fleet            nullable[bool] `json:"fleet" doc:"null: if there are neither tags nor target_ids"`
	Zone             string         `json:"zone"`
	Schedule         []WindowPart   `json:"schedule" nullable:"false" doc:"empty: always"`
	QuietHours       []WindowPart   `json:"quiet_hours" nullable:"false"`
	QuietLetsThrough []string       `json:"quiet_lets_through" nullable:"false"`
	DigestMinutes    int            `json:"digest_minutes"`
	ChannelIDs       []int64        `json:"channel_ids" nullable:"false"`
	Escalations      []StepPart     `json:"escalations" nullable:"false"`
	ReminderMinutes  int            `json:"reminder_minutes"`
	SendAcknowledged bool           `json:"send_acknowledged"`
	SendResolved     bool           `json:"send_resolved"`
	Version          int64          `json:"version" doc:"rises with every change; the ETag"`
	CreatedAt        instant        `json:"created_at"`
	UpdatedAt        instant        `json:"updated_at"`
	Unreadable       string         `json:"unreadable,omitempty" doc:"what of it this release cannot read, if so: it speaks without the conditions that cannot, and is not to be changed"`
}

// weekdays are the names of days, by time.Weekday.
func weekdays() []string { return []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"} }

func ruleOf(r incidentstore.Rule) alertRuleBody {
	t := r.Terms
	body := alertRuleBody{
		ID: r.ID, Name: r.Name, Enabled: r.Enabled, Tags: orEmpty(t.Tags), TargetIDs: orEmpty(t.Targets), Severities: words(t.Severities), Zone: zoneName(t.Zone),
		Schedule: windowsOf(t.Schedule), QuietHours: windowsOf(t.Quiet), QuietLetsThrough: words(t.QuietLets), DigestMinutes: t.DigestMinutes, ChannelIDs: orEmpty(t.Channels),
		Escalations: []StepPart{}, ReminderMinutes: t.ReminderMinutes, SendAcknowledged: t.SendAcknowledged, SendResolved: t.SendResolved,
		Version: r.Version, CreatedAt: instant(r.CreatedAt), UpdatedAt: instant(r.UpdatedAt),
		Unreadable: r.Unread,
	}
	if t.Fleet != nil {
		body.Fleet = some(*t.Fleet)
	}
	for _, s := range t.Escalations {
		body.Escalations = append(body.Escalations, StepPart{int64(s.AfterMinutes), orEmpty(s.Channels)})
	}
	return body
}

func zoneName(zone string) string {
	if zone == "" {
		return "UTC"
	}
	return zone
}

func words[T ~string](all []T) []string {
	texts := make([]string, len(all))
	for i, word := range all {
		texts[i] = string(word)
	}
	return texts
}

func windowsOf(all []incidentstore.Window) []WindowPart {
	parts := make([]WindowPart, len(all))
	for i, w := range all {
		parts[i] = WindowPart{Days: []string{}, From: clockOf(w.From), To: clockOf(w.To)}
		for _, day := range w.Days {
			if day < 0 || int(day) >= len(weekdays()) {
				continue // of no week that is known here
			}
			parts[i].Days = append(parts[i].Days, weekdays()[day])
		}
	}
	return parts
}

func clockOf(minutes int) string { return fmt.Sprintf("%02d:%02d", minutes/60, minutes%60) }

// ruleMerger lays an input over a rule.
type ruleMerger struct {
	rule     *incidentstore.Rule
	channels map[int64]bool // that there are
	found    []Mistake
}

func (m *ruleMerger) mistake(pointer, code, format string, args ...any) {
	m.found = append(m.found, Mistake{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, args...)})
}

// merge answers every mistake; with one or more of them the rule must not be used.
func (m *ruleMerger) merge(in RuleInput, null nulls, now time.Time) []Mistake {
	t := &m.rule.Terms
	m.rule.Name, m.found = givenName(in.Name, null["name"], m.rule.Name)
	flag(&m.rule.Enabled, in.Enabled, null["enabled"], true)
	flag(&t.SendResolved, in.SendResolved, null["send_resolved"], true)
	flag(&t.SendAcknowledged, in.SendAcknowledged, null["send_acknowledged"], false)
	m.number("/digest_minutes", &t.DigestMinutes, in.DigestMinutes, null["digest_minutes"], 24*60)
	m.number("/reminder_minutes", &t.ReminderMinutes, in.ReminderMinutes, null["reminder_minutes"], weekMinutes)
	if in.Tags != nil || null["tags"] {
		t.Tags = m.tags(in.Tags)
	}
	if in.TargetIDs != nil || null["target_ids"] {
		t.Targets = m.ids("/target_ids", in.TargetIDs, nil)
	}
	if in.Fleet != nil || null["fleet"] {
		t.Fleet = in.Fleet
	}
	if in.ChannelIDs != nil || null["channel_ids"] {
		t.Channels = m.ids("/channel_ids", in.ChannelIDs, m.channels)
	}
	if in.Severities != nil || null["severities"] {
		t.Severities = m.severities("/severities", in.Severities)
	}
	if in.QuietLetsThrough != nil || null["quiet_lets_through"] {
		t.QuietLets = m.severities("/quiet_lets_through", in.QuietLetsThrough)
	}
	if in.Schedule != nil || null["schedule"] {
		t.Schedule = m.windows("/schedule", in.Schedule)
	}
	if in.QuietHours != nil || null["quiet_hours"] {
		t.Quiet = m.windows("/quiet_hours", in.QuietHours)
	}
	if in.Zone != nil || null["zone"] {
		m.zone(deref(in.Zone))
	}
	if in.Escalations != nil || null["escalations"] {
		m.steps(in.Escalations)
	}
	if len(t.Channels) == 0 && len(t.Escalations) == 0 {
		m.mistake("/channel_ids", codeRequired, "a rule tells somebody: name a channel, here or in an escalation")
	}
	if len(m.found) == 0 && notify.NeverSpeaks(*t, now) {
		m.mistake("/quiet_hours", codeInvalidRange, "with this schedule and these quiet hours some incidents would never be told")
	}
	return m.found
}

func flag(into *bool, in *bool, null, usual bool) {
	switch {
	case in != nil:
		*into = *in
	case null:
		*into = usual
	}
}

func (m *ruleMerger) number(pointer string, into *int, in *int64, null bool, most int64) {
	switch {
	case in == nil && null:
		*into = 0
	case in == nil:
	case *in < 0 || *in > most:
		m.mistake(pointer, codeInvalidRange, "from 0 to %d minutes", most)
	default:
		*into = int(*in)
	}
}

func (m *ruleMerger) tags(in []string) []string {
	if len(in) > maxInRule {
		m.mistake("/tags", codeTooLong, "at most %d", maxInRule)
		return nil
	}
	tags, bad := uptime.ParseTags(in)
	for _, i := range bad {
		m.mistake("/tags/"+strconv.Itoa(i), codeInvalidText, uptime.TagRule)
	}
	return tags
}

// ids reads a list of ids; there says which exist, nil: any may.
func (m *ruleMerger) ids(pointer string, in []int64, there map[int64]bool) []int64 {
	if len(in) > maxInRule {
		m.mistake(pointer, codeTooLong, "at most %d", maxInRule)
		return nil
	}
	for i, id := range in {
		if id < 1 || there != nil && !there[id] {
			m.mistake(pointer+"/"+strconv.Itoa(i), codeNotFound, "there is nothing with this id")
		}
	}
	return slices.Compact(slices.Sorted(slices.Values(in)))
}

func (m *ruleMerger) severities(pointer string, in []string) []incidentstore.Severity {
	var all []incidentstore.Severity
	for i, word := range in {
		if !slices.Contains(incidentstore.Severities(), incidentstore.Severity(word)) {
			m.mistake(pointer+"/"+strconv.Itoa(i), codeInvalidParameter, "want one of: %s", strings.Join(words(incidentstore.Severities()), ", "))
		} else if !slices.Contains(all, incidentstore.Severity(word)) {
			all = append(all, incidentstore.Severity(word))
		}
	}
	return all
}

func (m *ruleMerger) zone(name string) {
	if _, err := time.LoadLocation(name); err != nil || name == "Local" {
		m.mistake("/zone", codeUnknownZone, "there is no time zone of this name; one is Europe/Berlin")
		return
	}
	m.rule.Terms.Zone = name
}

var clockTime = regexp.MustCompile(`^([01][0-9]|2[0-3]):([0-5][0-9])$`)

func (m *ruleMerger) windows(pointer string, in []WindowPart) []incidentstore.Window {
	if len(in) > maxWindows {
		m.mistake(pointer, codeTooLong, "at most %d", maxWindows)
		return nil
	}
	var all []incidentstore.Window
	for i, part := range in {
		at := pointer + "/" + strconv.Itoa(i)
		w := incidentstore.Window{From: m.clock(at+"/from", part.From), To: m.clock(at+"/to", part.To)}
		for n, name := range part.Days {
			day := time.Weekday(slices.Index(weekdays(), name))
			if day < 0 {
				m.mistake(at+"/days/"+strconv.Itoa(n), codeInvalidParameter, "want one of: mon, tue, wed, thu, fri, sat, sun")
			} else if !slices.Contains(w.Days, day) {
				w.Days = append(w.Days, day)
			}
		}
		all = append(all, w)
	}
	return all
}

func (m *ruleMerger) clock(pointer, text string) int {
	parts := clockTime.FindStringSubmatch(text)
	if parts == nil {
		m.mistake(pointer, codeInvalidParameter, "want a time of day such as 07:30")
		return 0
	}
	hours, _ := strconv.Atoi(parts[1])
	minutes, _ := strconv.Atoi(parts[2])
	return hours*60 + minutes
}

func (m *ruleMerger) steps(in []StepPart) {
	m.rule.Terms.Escalations = nil
	if len(in) > maxSteps {
		m.mistake("/escalations", codeTooLong, "at most %d", maxSteps)
		return
	}
	for i, part := range in {
		at := "/escalations/" + strconv.Itoa(i)
		if part.AfterMinutes < 1 || part.AfterMinutes > weekMinutes {
			m.mistake(at+"/after_minutes", codeInvalidRange, "from 1 to %d minutes", weekMinutes)
		}
		if len(part.ChannelIDs) == 0 {
			m.mistake(at+"/channel_ids", codeRequired, "an escalation tells somebody")
		}
		step := incidentstore.Step{AfterMinutes: int(part.AfterMinutes), Channels: m.ids(at+"/channel_ids", part.ChannelIDs, m.channels)}
		m.rule.Terms.Escalations = append(m.rule.Terms.Escalations, step)
	}
}
