package jobstore

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
)

type row struct {
	ID              string `gorm:"column:id;primaryKey"`
	URL             string `gorm:"column:url"`
	URLHash         string `gorm:"column:url_hash"`
	Kind            string `gorm:"column:kind"`
	TimeoutMS       int64  `gorm:"column:timeout_ms"`
	Spec            string `gorm:"column:spec"`
	Regions         string `gorm:"column:regions"`
	TargetID        int64  `gorm:"column:target_id"`
	CreatedBy       string `gorm:"column:created_by"`
	State           string `gorm:"column:state"`
	RetryCount      int    `gorm:"column:retry_count"`
	CreatedAtMS     int64  `gorm:"column:created_at_ms"`
	UpdatedAtMS     int64  `gorm:"column:updated_at_ms"`
	LastAttemptAtMS *int64 `gorm:"column:last_attempt_at_ms"`
	NextAttemptAtMS *int64 `gorm:"column:next_attempt_at_ms"`
	Error           string `gorm:"column:error"`
	Looks           string `gorm:"column:looks"`
	Evidence        string `gorm:"column:evidence"`
	Owner           string `gorm:"column:owner"`
	LeaseUntilMS    *int64 `gorm:"column:lease_until_ms"`
}

func (row) TableName() string { return "jobs" }

// brief is every column but the large one.
var brief = [...]string{
	"id", "url", "kind", "timeout_ms", "spec", "regions", "target_id", "created_by", "state", "retry_count", "created_at_ms", "updated_at_ms",
	"last_attempt_at_ms", "next_attempt_at_ms", "error", "looks", "owner", "lease_until_ms",
}

func hashOf(url string) string {
	sum := sha256.Sum256([]byte(url))
	return hex.EncodeToString(sum[:])
}

func toRow(j Job, owner string, until time.Time) (row, error) {
	r := row{
		ID: j.ID, URL: j.URL, URLHash: hashOf(j.URL), Kind: string(j.Kind), TimeoutMS: j.Timeout.Milliseconds(), Spec: string(j.Spec),
		TargetID: j.TargetID, CreatedBy: j.CreatedBy, State: string(j.State), RetryCount: j.RetryCount, Error: j.Error, Owner: owner,
		CreatedAtMS: j.CreatedAt.UnixMilli(), UpdatedAtMS: j.UpdatedAt.UnixMilli(),
		LastAttemptAtMS: milli(j.LastAttemptAt), NextAttemptAtMS: milli(j.NextAttemptAt),
	}
	if !j.State.Final() {
		r.LeaseUntilMS = milli(until)
	}
	looks, evidence := make([]uptime.Look, len(j.Looks)), map[string]*uptime.Evidence{}
	for i, look := range j.Looks {
		if look.Evidence != nil {
			evidence[look.Region] = look.Evidence
		}
		looks[i] = look
		looks[i].Evidence = nil
	}
	regions := j.Regions
	if regions == nil {
		regions = []string{}
	}
	for text, value := range map[*string]any{&r.Regions: regions, &r.Looks: looks, &r.Evidence: evidence} {
		encoded, err := json.Marshal(value)
		if err != nil {
			return row{}, fmt.Errorf("job %s: %w", j.ID, err)
		}
		*text = string(encoded)
	}
	return r, nil
}

func (r row) job() (Job, error) {
	j := Job{
		ID: r.ID, URL: r.URL, Kind: uptime.Kind(r.Kind), Timeout: time.Duration(r.TimeoutMS) * time.Millisecond, Spec: uptime.SpecText(r.Spec),
		TargetID: r.TargetID, CreatedBy: r.CreatedBy, State: State(r.State), RetryCount: r.RetryCount, Error: r.Error,
		CreatedAt: time.UnixMilli(r.CreatedAtMS).UTC(), UpdatedAt: time.UnixMilli(r.UpdatedAtMS).UTC(),
		LastAttemptAt: instant(r.LastAttemptAtMS), NextAttemptAt: instant(r.NextAttemptAtMS),
	}
	var evidence map[string]*uptime.Evidence
	for _, part := range []struct {
		text string // "": not asked for
		into any
	}{{r.Regions, &j.Regions}, {r.Looks, &j.Looks}, {r.Evidence, &evidence}} {
		if part.text == "" {
			continue
		}
		if err := json.Unmarshal([]byte(part.text), part.into); err != nil {
			return Job{}, fmt.Errorf("job %s: %w", r.ID, err)
		}
	}
	for i := range j.Looks {
		j.Looks[i].Evidence = evidence[j.Looks[i].Region]
	}
	return j, nil
}

func jobs(rows []row) ([]Job, error) {
	list := make([]Job, 0, len(rows))
	for _, r := range rows {
		j, err := r.job()
		if err != nil {
			return nil, err
		}
		list = append(list, j)
	}
	return list, nil
}

func milli(t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	ms := t.UnixMilli()
	return &ms
}

func instant(ms *int64) time.Time {
	if ms == nil {
		return time.Time{}
	}
	return time.UnixMilli(*ms).UTC()
}
