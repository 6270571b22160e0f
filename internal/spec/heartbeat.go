package spec

import (
	"net/url"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/heartbeat"
	"github.com/probefleet/probefleet/internal/uptime"
)

// MaxHeartbeatName is the longest name in a heartbeat's URL, in bytes.
const MaxHeartbeatName = 63

// heartbeatName judges a URL such as heartbeat://nightly-backup: it is nothing but a name.
func heartbeatName(u *url.URL) (string, *Problem) {
	name := strings.ToLower(u.Host)
	if name == "" || len(name) > MaxHeartbeatName || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789-._") != "" || u.Path != "" || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return "", urlProblem(CodeInvalidURL, "write a heartbeat as heartbeat://NAME, with a name of 1 to %d of a-z, 0-9, -, . and _, or leave the url out", MaxHeartbeatName)
	}
	return HeartbeatURL(name), nil
}

// HeartbeatURL is the URL of a heartbeat by a name that people gave, in letters that a URL
// may have.
func HeartbeatURL(name string) string {
	var slug strings.Builder
	for _, r := range strings.ToLower(name) {
		switch {
		case slug.Len() == MaxHeartbeatName:
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '.', r == '_':
			slug.WriteRune(r)
		case !strings.HasSuffix(slug.String(), "-"):
			slug.WriteByte('-')
		}
	}
	text := strings.Trim(slug.String(), "-")
	if text == "" {
		text = "unnamed"
	}
	return (&url.URL{Scheme: string(uptime.KindHeartbeat), Host: text}).String()
}

// heartbeat judges when a job is to ping.
func (j *judge) heartbeat() {
	if j.kind == uptime.KindHeartbeat && j.spec.Family != uptime.FamilyAny {
		j.problem("/family", CodeNotOfKind, "nothing is visited for a heartbeat: leave the family out")
	}
	part := j.spec.Heartbeat
	if part == nil {
		if j.kind == uptime.KindHeartbeat {
			j.problem("/heartbeat", CodeRequired, "say when it is to ping: period_s or cron, and grace_s")
		}
		return
	}
	switch {
	case part.Cron != "" && part.PeriodS != 0:
		j.problem("/heartbeat/cron", CodeConflict, "a heartbeat has a period_s or a cron expression, not both")
	case part.Cron != "":
		if _, err := heartbeat.ParseCron(part.Cron); err != nil {
			j.problem("/heartbeat/cron", CodeUnknownValue, "write five fields that come some time (minute, hour, day of the month, month, day of the week), such as 30 2 * * 1-5")
		}
	default:
		j.seconds("/heartbeat/period_s", part.PeriodS, heartbeat.MinPeriod, heartbeat.MaxPeriod)
	}
	if part.Zone != "" && part.Cron == "" {
		j.problem("/heartbeat/zone", CodeConflict, "a time zone goes with a cron expression")
	} else if _, err := heartbeat.Zone(part.Zone); err != nil {
		j.problem("/heartbeat/zone", CodeUnknownValue, "a time zone is an IANA name, such as Europe/Berlin; leave it out for UTC")
	}
	j.seconds("/heartbeat/grace_s", part.GraceS, heartbeat.MinGrace, heartbeat.MaxGrace)
}

func (j *judge) seconds(pointer string, n int64, least, most time.Duration) {
	if from, to := int64(least/time.Second), int64(most/time.Second); n < from || n > to {
		j.problem(pointer, CodeOutOfRange, "from %d to %d seconds are possible", from, to)
	}
}
