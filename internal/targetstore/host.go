package targetstore

import (
	"context"
	"fmt"
	"strings"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// HostRate bounds what all active targets of one host (uptime.HostOf) ask of it
// together. The zero value is no bound.
//
// What is judged is the save: one that asks more of a host than before, and more than the
// limit with all its other targets, is refused with a *HostRateError; two saves at once
// are judged one after the other. What is there already stays, also when another region
// or a lower limit puts it beyond: it can be edited as long as that asks for no more.
type HostRate struct {
	Limit  float64                // requests a second; 0: none
	Exempt func(host string) bool // hosts without a limit; nil: none
}

// HostRateError is the refusal of a save that would ask too much of a host.
type HostRateError struct {
	Field  string  // of the target, as the API calls it: what asks for more
	Others float64 // requests a second of the host's other targets
	With   float64 // the same and this one's
	Limit  float64
}

func (e *HostRateError) Error() string {
	return fmt.Sprintf("the targets of this host would come to %.3g requests a second, more than %.3g", e.With, e.Limit)
}

// WithHostRate makes the store judge what it saves.
func (s *Store) WithHostRate(rate HostRate) *Store {
	with := *s
	with.rate = rate
	return &with
}

// What is read of the other targets: each has an index of its own.
const (
	sumOfHost   = "SELECT interval_s, regions, COUNT(*) AS targets FROM targets WHERE host = ? AND active AND id <> ? GROUP BY interval_s, regions"
	withoutHost = "SELECT id, url FROM targets WHERE host_seq <> spec_version ORDER BY id LIMIT ?"
)

// tolerance is far below what any target asks for, and far above what adding up costs.
const tolerance = 1e-9

// judge refuses the target after, which is already written, if it asks too much of its
// host. before is the zero row for a new target. The counter that every Change holds
// keeps other saves out.
func (r HostRate) judge(ctx context.Context, tx *gorm.DB, before, after row) error {
	if r.Limit <= 0 || !after.Active || after.Host == "" || r.Exempt != nil && r.Exempt(after.Host) {
		return nil
	}
	regions, err := schedulestore.CountRegions(ctx, tx)
	if err != nil {
		return err
	}
	wants, err := demand{after.IntervalS, after.Regions, 1}.rate(regions)
	if err != nil {
		return err
	}
	wanted := 0.0
	if before.Active && uptime.HostOf(before.URL) == after.Host {
		if wanted, err = (demand{before.IntervalS, before.Regions, 1}).rate(regions); err != nil {
			return err
		}
	}
	if wants <= wanted+tolerance {
		return nil
	}
	if err := nameHosts(ctx, tx); err != nil {
		return err
	}
	others, err := hostRate(ctx, tx, after.Host, after.ID, regions)
	if err != nil {
		return err
	}
	if others+wants > r.Limit+tolerance {
		return &HostRateError{Field: moreOf(before, after), Others: others, With: others + wants, Limit: r.Limit}
	}
	return nil
}

// moreOf names the field by which a target asks more of its host than before.
func moreOf(before, after row) string {
	switch {
	case before.ID == 0 || uptime.HostOf(before.URL) != after.Host:
		return "url"
	case !before.Active:
		return "active"
	case after.IntervalS < before.IntervalS:
		return "interval_s"
	}
	return "regions"
}

// demand is what targets of one interval and the same regions ask for.
type demand struct {
	IntervalS int64  `gorm:"column:interval_s"`
	Regions   string `gorm:"column:regions"`
	Targets   int64  `gorm:"column:targets"`
}

// rate is in requests a second; all is how many regions there are. Regions that a target
// names count also while they are retired: they may come back without a save.
func (d demand) rate(all int) (float64, error) {
	regions, err := schedulestore.DecodeRegions(d.Regions)
	if err != nil {
		return 0, err
	}
	n := len(regions)
	if n == 0 {
		n = max(1, all) // also before the first prober has come
	}
	return float64(d.Targets*int64(n)) / float64(d.IntervalS), nil
}

// hostRate sums up the active targets of a host but one.
func hostRate(ctx context.Context, tx *gorm.DB, host string, except int64, regions int) (float64, error) {
	var demands []demand
	err := tx.WithContext(ctx).Raw(sumOfHost, host, except).Scan(&demands).Error
	if err != nil {
		return 0, fmt.Errorf("sum up the targets of a host: %w", err)
	}
	sum := 0.0
	for _, d := range demands {
		rate, err := d.rate(regions)
		if err != nil {
			return 0, err
		}
		sum += rate
	}
	return sum, nil
}

// nameHosts works out the hosts that a release without them left out: none, but for the
// first save after an upgrade and while nodes of both releases run.
func nameHosts(ctx context.Context, tx *gorm.DB) error {
	for {
		var unnamed []row
		err := tx.WithContext(ctx).Raw(withoutHost, idsPerStatement).Scan(&unnamed).Error
		if err != nil {
			return fmt.Errorf("find targets without a host: %w", err)
		}
		if len(unnamed) == 0 {
			return nil
		}
		values, pairs := make([]string, len(unnamed)), make([]any, 0, 2*len(unnamed))
		for i, r := range unnamed {
			values[i], pairs = "(CAST(? AS BIGINT), CAST(? AS TEXT))", append(pairs, r.ID, uptime.HostOf(r.URL))
		}
		err = tx.WithContext(ctx).Exec("WITH named (id, host) AS (VALUES "+strings.Join(values, ", ")+") "+
			"UPDATE targets SET host = named.host, host_seq = spec_version FROM named WHERE targets.id = named.id", pairs...).Error
		if err != nil {
			return fmt.Errorf("write the hosts of targets: %w", err)
		}
	}
}
