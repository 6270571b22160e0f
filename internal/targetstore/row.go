package targetstore

import (
	"database/sql"
	"fmt"
	"strings"
	"time"

	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// columns are the target's, in the order scan reads them.
const columns = "id, name, url, kind, interval_s, timeout_ms, regions, active, spec, policy, tags, parent_id, spec_version, visited_since_ms, created_at_ms, updated_at_ms"

// row has no default tags: GORM would store the column's default for every
// zero value, and a paused target would be active.
type row struct {
	ID             int64         `gorm:"column:id;primaryKey"`
	Name           string        `gorm:"column:name"`
	URL            string        `gorm:"column:url"`
	Kind           string        `gorm:"column:kind"`
	IntervalS      int64         `gorm:"column:interval_s"`
	TimeoutMS      int64         `gorm:"column:timeout_ms"`
	Regions        string        `gorm:"column:regions"`
	Active         bool          `gorm:"column:active"`
	Spec           string        `gorm:"column:spec"`
	Policy         string        `gorm:"column:policy"`
	Tags           string        `gorm:"column:tags"` // with spaces between them
	ParentID       sql.NullInt64 `gorm:"column:parent_id"`
	SpecVersion    int64         `gorm:"column:spec_version"`
	VisitedSinceMS int64         `gorm:"column:visited_since_ms"`
	CreatedAtMS    int64         `gorm:"column:created_at_ms"`
	UpdatedAtMS    int64         `gorm:"column:updated_at_ms"`
	Host           string        `gorm:"column:host"`
	HostSeq        int64         `gorm:"column:host_seq"` // the SpecVersion that Host is of
}

func (row) TableName() string { return "targets" }

func toRow(t uptime.Target) (row, error) {
	regions, err := schedulestore.EncodeRegions(t.Regions)
	if err != nil {
		return row{}, err
	}
	r := row{
		ID: t.ID, Name: t.Name, URL: t.URL, Kind: string(t.Kind),
		IntervalS: int64(t.Interval / time.Second), TimeoutMS: t.Timeout.Milliseconds(),
		Regions: regions, Active: t.Active, Spec: string(t.Spec.Text()), Policy: string(t.Policy), Tags: strings.Join(t.Tags, " "), ParentID: sql.NullInt64{Int64: t.ParentID, Valid: t.ParentID != 0}, SpecVersion: t.SpecVersion,
		CreatedAtMS: t.CreatedAt.UnixMilli(), UpdatedAtMS: t.UpdatedAt.UnixMilli(),
		Host: uptime.HostOf(t.URL), HostSeq: t.SpecVersion,
	}
	if !t.VisitedSince.IsZero() {
		r.VisitedSinceMS = t.VisitedSince.UnixMilli()
	}
	return r, nil
}

func (r row) target() (uptime.Target, error) {
	regions, err := schedulestore.DecodeRegions(r.Regions)
	if err != nil {
		return uptime.Target{}, fmt.Errorf("target %d: %w", r.ID, err)
	}
	t := uptime.Target{
		ID: r.ID, Name: r.Name, URL: r.URL, Kind: uptime.Kind(r.Kind),
		Interval: time.Duration(r.IntervalS) * time.Second, Timeout: time.Duration(r.TimeoutMS) * time.Millisecond,
		Regions: regions, Active: r.Active, Policy: uptime.PolicyText(r.Policy), Tags: tagsOf(r), ParentID: r.ParentID.Int64, SpecVersion: r.SpecVersion,
		CreatedAt: time.UnixMilli(r.CreatedAtMS).UTC(), UpdatedAt: time.UnixMilli(r.UpdatedAtMS).UTC(),
	}
	if r.VisitedSinceMS != 0 {
		t.VisitedSince = time.UnixMilli(r.VisitedSinceMS).UTC()
	}
	// One that is of a newer release, or broken, is no reason to stop with all others.
	t.Spec = uptime.SpecText(r.Spec).Read()
	return t, nil
}

func targets(rows []row) ([]uptime.Target, error) {
	list := make([]uptime.Target, 0, len(rows))
	for _, r := range rows {
		t, err := r.target()
		if err != nil {
			return nil, err
		}
		list = append(list, t)
	}
	return list, nil
}

// draft is the schedule of a row that was not what it is until now: of nothing, if it is new.
func draft(r row, regions []string) schedulestore.Draft {
	// What is not probed has no slots to publish: its schedule is there, and inactive.
	active := r.Active && uptime.Kind(r.Kind).Probed()
	return schedulestore.Draft{
		Schedule:         uptime.Schedule{TargetID: r.ID, Interval: time.Duration(r.IntervalS) * time.Second, Regions: regions, Active: active},
		VisitedOtherwise: r.VisitedSinceMS != 0 && r.VisitedSinceMS == r.UpdatedAtMS,
	}
}
