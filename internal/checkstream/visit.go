package checkstream

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

// Visit is one visit outside the schedule: an attempt of a job, in one region. It is of no
// slot. On demand it is of no saved target; one that confirms has a job named by
// Confirmation.
type Visit struct {
	Job     string // 1 to 64 of a-z, 0-9 and -
	Attempt int    // 1 for the first
	Region  string
	Kind    uptime.Kind
	URL     string
	Timeout time.Duration // at most uptime.MaxTimeout
	Spec    uptime.SpecText
}

// VisitEntry is a visit as a prober gets it, to be settled. Err is set when it cannot be
// read; then only the entry's id counts.
type VisitEntry struct {
	Visit
	ID         string
	Deliveries int64 // 1 for the first
	ExpiresAt  time.Time
	Err        error
}

// VisitOutcome is what a visit came to.
type VisitOutcome struct {
	Job string `json:"job"`
	uptime.Look
	Size int `json:"-"` // bytes of the outcome as it was sent
}

const (
	maxAttempt = 100
	maxOutcome = 128 << 10 // bytes as JSON
)

var (
	jobPattern    = regexp.MustCompile(`^[a-z0-9-]{1,64}$`)
	regionPattern = regexp.MustCompile(`^[a-z0-9-]{1,32}$`)
	wordPattern   = regexp.MustCompile(`^[a-z0-9_]{0,40}$`)
)

// name tells visits apart: of two with the same name one is run.
func (v Visit) name() string { return v.Job + " " + strconv.Itoa(v.Attempt) + " " + v.Region }

// judge says why a visit cannot be written, or was not written by us.
func (v Visit) judge() error {
	switch {
	case !jobPattern.MatchString(v.Job), v.Attempt < 1, v.Attempt > maxAttempt, !regionPattern.MatchString(v.Region):
		return errors.New("visit: job, attempt or region cannot be used")
	case !isWord(string(v.Kind)), v.URL == "", strings.ContainsAny(v.URL, "\r\n"):
		return errors.New("visit: kind or url cannot be used")
	case v.Timeout < time.Millisecond, v.Timeout > uptime.MaxTimeout:
		return errors.New("visit: timeout out of range")
	case len(v.URL)+len(v.Kind) > maxField, len(v.Spec) > maxField:
		return fmt.Errorf("visit: larger than %d bytes", maxField)
	}
	return nil
}

// fields are the arguments of visit_add.lua.
func (v Visit) fields() []any {
	return []any{v.name(), v.Job, v.Attempt, v.Timeout.Milliseconds(), string(v.Kind), v.URL, string(v.Spec)}
}

// decodeVisit reads an entry of a region's stream. It accepts any input.
func decodeVisit(region, id string, deliveries int64, fields map[string]any) VisitEntry {
	field := func(name string) string { text, _ := fields[name].(string); return text }
	e := VisitEntry{ID: id, Deliveries: deliveries}
	if v := field("v"); v != versionPlain {
		e.Err = fmt.Errorf("visit of version %.20q: this program reads version %s", v, versionPlain)
		return e
	}
	attempt, err1 := strconv.Atoi(field("n"))
	timeout, err2 := strconv.ParseInt(field("t"), 10, 32)
	expiry, err3 := strconv.ParseInt(field("x"), 10, 64)
	if err := errors.Join(err1, err2, err3); err != nil || expiry < 0 {
		e.Err = errors.New("visit: attempt, timeout or expiry is not a number")
		return e
	}
	e.ExpiresAt = time.UnixMilli(expiry).UTC()
	e.Visit = Visit{
		Job: field("j"), Attempt: attempt, Region: region, Kind: uptime.Kind(field("k")), URL: field("u"),
		Timeout: time.Duration(timeout) * time.Millisecond, Spec: uptime.SpecText(field("s")),
	}
	e.Err = e.judge()
	return e
}

// encodeOutcome writes an outcome. One that is too large loses parts of its evidence.
func encodeOutcome(o VisitOutcome) (string, error) {
	text, err := json.Marshal(o)
	if err == nil && len(text) > maxOutcome && o.Evidence != nil {
		e := o.Evidence
		smaller := *e
		smaller.Body, smaller.BodyCut = "", e.BodyCut || e.Body != ""
		smaller.Received, smaller.ReceivedCut = "", e.ReceivedCut || e.Received != ""
		o.Evidence = &smaller
		if text, err = json.Marshal(o); err == nil && len(text) > maxOutcome {
			o.Evidence = nil
			text, err = json.Marshal(o)
		}
	}
	if err != nil {
		return "", fmt.Errorf("outcome of a visit: %w", err)
	}
	if len(text) > maxOutcome {
		return "", fmt.Errorf("outcome of a visit: larger than %d bytes", maxOutcome)
	}
	return string(text), nil
}

// DecodeOutcome reads an outcome. It accepts any input: what is not one is an error. A
// member it does not know comes from a newer prober and is left out.
func DecodeOutcome(text string) (VisitOutcome, error) {
	var o VisitOutcome
	if len(text) > maxOutcome {
		return o, fmt.Errorf("outcome of %d bytes", len(text))
	}
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		return VisitOutcome{}, errors.New("outcome: it is malformed")
	}
	o.Size = len(text)
	switch {
	case !jobPattern.MatchString(o.Job), !regionPattern.MatchString(o.Region), o.Attempt < 1, o.Attempt > maxAttempt:
		return VisitOutcome{}, errors.New("outcome: job, region or attempt cannot be used")
	case o.Status < uptime.StatusUp || o.Status > uptime.StatusUnknown, o.Status.Measured() != (o.Reason == uptime.ReasonNone):
		return VisitOutcome{}, errors.New("outcome: status and reason contradict each other")
	case !wordPattern.MatchString(string(o.Failure)), !wordPattern.MatchString(string(o.Reason)):
		return VisitOutcome{}, errors.New("outcome: failure or reason is not a word")
	}
	return o, nil
}

// Confirmation asks a region to look again at what another one saw failing. Its outcome is
// evidence like a result of the instant it began, and no row.
type Confirmation struct {
	TargetID int64
	Slot     time.Time // that failed elsewhere
}

// Job names it: of the same slot each region is asked once.
func (c Confirmation) Job() string {
	return "c-" + strconv.FormatInt(c.TargetID, 10) + "-" + strconv.FormatInt(c.Slot.UnixMilli(), 10)
}

// Confirms gives what an outcome confirms.
func (o VisitOutcome) Confirms() (c Confirmation, is bool) {
	parts := strings.Split(o.Job, "-")
	if len(parts) != 3 || parts[0] != "c" {
		return c, false
	}
	id, err1 := strconv.ParseInt(parts[1], 10, 64)
	slot, err2 := strconv.ParseInt(parts[2], 10, 64)
	return Confirmation{id, time.UnixMilli(slot).UTC()}, err1 == nil && err2 == nil && id > 0
}
