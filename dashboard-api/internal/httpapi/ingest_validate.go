package httpapi

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Codes of mistakes in what external checkers send.
const (
	codeInvalidTime    = "invalid_time"
	codeTimeAhead      = "time_in_future"
	codeTimeTooOld     = "time_too_old"
	codeInvalidRegion  = "invalid_region"
	codeProbedRegion   = "region_of_probers"
	codeManyRegions    = "too_many_regions"
	codeReservedRegion = "reserved_region"
	codeUnknownStatus  = "unknown_status"
	codeUnknownFailure = "unknown_failure"
	codeOutOfRange     = "out_of_range"
	codeConflict       = "conflict"
)

const (
	maxMicros      = int64(time.Hour / time.Microsecond)
	maxResultText  = 500
	maxRegionBytes = 32
)

// sender judges what an external checker says of a target, against what is known now.
type sender struct {
	target uptime.Target
	actor  string
	probed []string // regions of probers
	now    time.Time
	kept   time.Duration // how long results are
	found  []Mistake
}

func (s *sender) mistake(pointer, code, format string, args ...any) {
	s.found = append(s.found, Mistake{Pointer: pointer, Code: code, Message: fmt.Sprintf(format, args...)})
}

// judge gives the rows of a batch, or every mistake in it.
func (s *sender) judge(in ReceivedInput) ([]uptime.Result, []Mistake) {
	switch n := len(in.Items); {
	case in.Items == nil:
		s.mistake("/items", codeRequired, "this is needed")
	case n == 0:
		s.mistake("/items", codeTooShort, "send one result or more")
	case n > maxItems:
		s.mistake("/items", codeTooLong, "at most %d results fit in a batch, these are %d: send more batches", maxItems, n)
		return nil, s.found
	}
	rows := make([]uptime.Result, len(in.Items))
	for i, received := range in.Items {
		rows[i] = s.row(item("/items", i), received)
	}
	return rows, s.found
}

func (s *sender) row(at string, in ReceivedItem) uptime.Result {
	r := uptime.Result{
		TargetID: s.target.ID, Region: s.region(at+"/region", in.Region), ScheduledAt: s.at(at+"/at", in.At), Status: s.status(at+"/status", in.Status),
		Attempt: 1, Prober: s.actor, SpecVersion: s.target.SpecVersion, IngestedAt: s.now,
	}
	r.CheckedAt = r.ScheduledAt
	r.Failure = s.failure(at+"/failure", in.Failure, r.Status)
	r.Phases = uptime.Phases{
		DNS: s.micros(at+"/dns_us", in.DNSUS), Connect: s.micros(at+"/connect_us", in.ConnectUS), TLS: s.micros(at+"/tls_us", in.TLSUS),
		Wait: s.micros(at+"/wait_us", in.WaitUS), Transfer: s.micros(at+"/transfer_us", in.TransferUS),
	}
	r.TotalUS = s.total(at+"/latency_ms", in.LatencyMS, r.Phases)
	if in.HTTPStatus != nil {
		if code := *in.HTTPStatus; code < 100 || code > 599 {
			s.mistake(at+"/http_status", codeOutOfRange, "an HTTP status is from 100 to 599")
		} else {
			r.HTTPStatus = int(code)
		}
	}
	r.Message = s.message(at+"/message", in.Message)
	return r
}

// at is the slot: the instant given, to the millisecond.
func (s *sender) at(pointer string, in *string) time.Time {
	if in == nil {
		s.mistake(pointer, codeRequired, "say when it was checked")
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339Nano, *in)
	switch oldest := resultstore.OldestSlot(s.now, s.kept); {
	case err != nil:
		s.mistake(pointer, codeInvalidTime, "write an instant with its zone (RFC 3339), such as 2026-03-01T12:00:00.000Z")
	case at.After(s.now.Add(clockAhead)):
		s.mistake(pointer, codeTimeAhead, "this is %v ahead of the clock here, and a minute is allowed: set the checker's clock", at.Sub(s.now).Round(time.Second))
	case at.Truncate(time.Millisecond).Before(oldest):
		s.mistake(pointer, codeTimeTooOld, "results are kept for %s and taken until a day before they go: those of before %s could not be counted any more", days(s.kept), oldest.UTC().Format(time.RFC3339))
	}
	return time.UnixMilli(at.UnixMilli()).UTC()
}

// region is the name with what tells that no prober of ours is there.
func (s *sender) region(pointer string, in *string) string {
	if in == nil || *in == "" {
		return uptime.DefaultOutside
	}
	name := *in
	switch {
	case !regionName.MatchString(name):
		s.mistake(pointer, codeInvalidRegion, "a region's name is 1 to %d of a-z, 0-9 and -", maxRegionBytes)
	case name == uptime.RegionPush:
		s.mistake(pointer, codeReservedRegion, "%s is the region of heartbeats: name the place of the checker otherwise", uptime.RegionPush)
	case slices.Contains(s.probed, name):
		s.mistake(pointer, codeProbedRegion, "%s is a region of this installation's own probers: name the place of the external checker otherwise", name)
	}
	if !uptime.Outside(name) {
		name = uptime.OutsidePrefix + name
	}
	if len(name) > maxRegionBytes && regionName.MatchString(*in) {
		s.mistake(pointer, codeTooLong, "with %s in front it would be longer than %d", uptime.OutsidePrefix, maxRegionBytes)
	}
	return name
}

func (s *sender) status(pointer string, in *string) uptime.Status {
	if in == nil {
		s.mistake(pointer, codeRequired, "a result is up, degraded or down")
		return 0
	}
	status, err := uptime.ParseStatus(*in)
	switch {
	case err != nil:
		s.mistake(pointer, codeUnknownStatus, "a result is up, degraded or down")
	case !status.Measured():
		s.mistake(pointer, codeUnknownStatus, "%s is not a measurement: a result is up, degraded or down, and nothing is sent of what was not measured", status)
	}
	return status
}

func (s *sender) failure(pointer string, in *string, status uptime.Status) uptime.Failure {
	failure := uptime.FailureNone
	if in != nil {
		failure = uptime.Failure(*in)
	}
	switch all := uptime.Failures(); {
	case failure != uptime.FailureNone && !slices.Contains(all, failure):
		s.mistake(pointer, codeUnknownFailure, "a failure is one of: %s", joined(all))
	case failure == uptime.FailureNone && status == uptime.StatusDown:
		s.mistake(pointer, codeRequired, "say what made it down, one of: %s", joined(all))
	case failure != uptime.FailureNone && status == uptime.StatusUp:
		s.mistake(pointer, codeConflict, "what is up has no failure")
	}
	return failure
}

func joined(failures []uptime.Failure) string {
	words := make([]string, len(failures))
	for i, f := range failures {
		words[i] = string(f)
	}
	return strings.Join(words, ", ")
}

func (s *sender) micros(pointer string, in *int64) uint32 {
	if in == nil {
		return 0
	}
	if *in < 0 || *in > maxMicros {
		s.mistake(pointer, codeOutOfRange, "from 0 to %d microseconds, an hour", maxMicros)
		return 0
	}
	return uint32(*in)
}

// total is the latency that was given, else the sum of the phases.
func (s *sender) total(pointer string, in *float64, p uptime.Phases) uint32 {
	sum := int64(p.DNS) + int64(p.Connect) + int64(p.TLS) + int64(p.Wait) + int64(p.Transfer)
	if in == nil {
		return uint32(min(sum, maxMicros))
	}
	given := int64(math.Round(min(max(*in, -1), float64(maxMicros)) * 1000))
	switch {
	case given < 0 || given > maxMicros:
		s.mistake(pointer, codeOutOfRange, "from 0 to %d milliseconds, an hour", maxMicros/1000)
		return 0
	case sum > given+1000: // they may have been rounded
		s.mistake(pointer, codeConflict, "the phases come to %d microseconds, more than this", sum)
	}
	return uint32(given)
}

func (s *sender) message(pointer string, in *string) string {
	switch {
	case in == nil:
		return ""
	case len(*in) > maxResultText:
		s.mistake(pointer, codeTooLong, "a message has at most %d bytes", maxResultText)
	case strings.ContainsFunc(*in, unicode.IsControl):
		s.mistake(pointer, codeInvalidText, "a message is one line, without control characters")
	}
	return *in
}
