package targetstore

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// Asked names one of many targets. An IfVersion other than 0 must be its spec version.
type Asked struct{ ID, IfVersion int64 }

// Outcome is what became of one of them.
type Outcome struct {
	ID      int64
	Target  uptime.Target // as it is now; of a dry run as it would be, but for the version
	Changed bool
	Err     error // why it stays as it was: ErrNotFound, ErrConflict, *HostRateError, of its parent, or what change said
}

// UpdateMany has change edit many targets, and stores all that it could edit in one transaction:
// each with a version of its own, as if they had been saved one after the other in the order asked
// for. One that is refused does not keep the others from being stored; an error is of the
// transaction, of which nothing is stored then. Which target it is (Name, URL, Kind) is not change's to
// edit: what it does to these is dropped; and who is given a parent is given the same one, as what
// depends on what is judged by what was stored before. The ids must differ. A dry run judges everything
// and stores nothing.
func (s *Store) UpdateMany(ctx context.Context, asked []Asked, dry bool, change func(*uptime.Target) error) ([]Outcome, error) {
	var outcomes []Outcome
	err := schedulestore.Change(ctx, s.db, func(tx *gorm.DB, seq int64) error {
		outcomes = make([]Outcome, len(asked))
		there, err := takeMany(ctx, tx, asked)
		if err != nil {
			return err
		}
		hosts := hostSums{rate: s.rate, tx: tx}
		var changed, rescheduled, rewritten []row
		var drafts []schedulestore.Draft
		now := s.now().UnixMilli()
		for i, a := range asked {
			before, found := there[a.ID]
			o := &outcomes[i]
			o.ID = a.ID
			switch {
			case !found:
				o.Err = ErrNotFound
				continue
			case a.IfVersion != 0 && a.IfVersion != before.SpecVersion:
				o.Err = ErrConflict
				continue
			}
			if o.Target, err = before.target(); err != nil {
				return err
			}
			edited := o.Target
			if o.Err = change(&edited); o.Err != nil {
				continue
			}
			edited.ID, edited.Name, edited.URL, edited.Kind = o.ID, before.Name, before.URL, uptime.Kind(before.Kind)
			edited.SpecVersion, edited.VisitedSince, edited.CreatedAt, edited.UpdatedAt = o.Target.SpecVersion, o.Target.VisitedSince, o.Target.CreatedAt, o.Target.UpdatedAt
			after, err := toRow(edited)
			if err != nil {
				return err
			}
			after.Host, after.HostSeq = before.Host, before.HostSeq
			if after.Spec != before.Spec && after.Spec == string(o.Target.Spec.Text()) {
				after.Spec = before.Spec // the same, written by another release
			}
			if after == before {
				continue
			}
			if after.ParentID != before.ParentID {
				if o.Err = related(ctx, tx, after); o.Err != nil {
					if !refusal(o.Err) {
						return o.Err
					}
					continue
				}
			}
			after.Host = uptime.HostOf(after.URL)
			refused, err := hosts.judge(ctx, before, after)
			if err != nil {
				return err
			}
			if o.Err = refused; refused != nil {
				continue
			}
			if !dry {
				after.SpecVersion, after.UpdatedAtMS = seq+int64(len(changed)), now
				if !s.same && !uptime.VisitedAlike(o.Target, edited) {
					after.VisitedSinceMS = now
				}
			}
			after.HostSeq = after.SpecVersion
			if o.Target, err = after.target(); err != nil {
				return err
			}
			o.Changed = true
			changed = append(changed, after)
			drafts = append(drafts, draft(after, o.Target.Regions))
			if onlySchedule(before, after) {
				rescheduled = append(rescheduled, after)
			} else {
				rewritten = append(rewritten, after)
			}
		}
		if dry || len(changed) == 0 {
			return errUnchanged
		}
		for _, after := range rewritten {
			if err := write(ctx, tx, there[after.ID], after); err != nil {
				return err
			}
		}
		for chunk := range slices.Chunk(rescheduled, idsPerStatement) {
			if err := reschedule(ctx, tx, chunk); err != nil {
				return err
			}
		}
		return schedulestore.AppendAll(ctx, tx, seq, drafts, time.UnixMilli(now))
	})
	if err != nil && !errors.Is(err, errUnchanged) {
		return nil, fmt.Errorf("update %d targets: %w", len(asked), err)
	}
	return outcomes, nil
}

// takeMany reads targets inside a Change, whose counter keeps other writers out.
func takeMany(ctx context.Context, tx *gorm.DB, asked []Asked) (map[int64]row, error) {
	there := make(map[int64]row, len(asked))
	for chunk := range slices.Chunk(asked, idsPerStatement) {
		ids := make([]int64, len(chunk))
		for i, a := range chunk {
			ids[i] = a.ID
		}
		rows, err := gorm.G[row](tx).Where("id IN ?", ids).Find(ctx)
		if err != nil {
			return nil, database.Translate(ctx, err)
		}
		for _, r := range rows {
			there[r.ID] = r
		}
	}
	return there, nil
}

// onlySchedule says whether the two differ in nothing but what reschedule writes.
func onlySchedule(before, after row) bool {
	return before.Spec == after.Spec && before.Policy == after.Policy && before.Tags == after.Tags && before.ParentID == after.ParentID
}

// refusal says whether it is of the parent that was asked for, and not of the database.
func refusal(err error) bool {
	return errors.Is(err, ErrNoParent) || errors.Is(err, ErrParentCycle) || errors.Is(err, ErrParentDepth)
}

// reschedule writes when, from where and for how long these targets are checked, in one statement.
func reschedule(ctx context.Context, tx *gorm.DB, rows []row) error {
	values, fields := make([]string, len(rows)), make([]any, 0, 7*len(rows))
	for i, r := range rows {
		values[i] = "(CAST(? AS BIGINT), CAST(? AS BOOLEAN), CAST(? AS BIGINT), CAST(? AS BIGINT), CAST(? AS TEXT), CAST(? AS TEXT), CAST(? AS BIGINT))"
		fields = append(fields, r.ID, r.Active, r.IntervalS, r.TimeoutMS, r.Regions, r.Host, r.SpecVersion)
	}
	result := tx.WithContext(ctx).Exec("WITH edited (id, active, interval_s, timeout_ms, regions, host, seq) AS (VALUES "+strings.Join(values, ", ")+") "+
		"UPDATE targets SET active = edited.active, interval_s = edited.interval_s, timeout_ms = edited.timeout_ms, regions = edited.regions, "+
		"host = edited.host, host_seq = edited.seq, spec_version = edited.seq, updated_at_ms = ? FROM edited WHERE targets.id = edited.id", append(fields, rows[0].UpdatedAtMS)...)
	if result.Error != nil {
		return database.Translate(ctx, result.Error)
	}
	if result.RowsAffected != int64(len(rows)) {
		return ErrNotFound
	}
	return nil
}

// hostSums judges many saves of one transaction in their order. What a host is asked for is summed up
// when somebody asks for more of it, before any of them is written.
type hostSums struct {
	rate    HostRate
	tx      *gorm.DB
	regions int                // how many there are; 0: not read yet
	stored  map[string]float64 // what is asked of a host by what is stored
	added   map[string]float64 // by the saves that were judged well
}

// judge says why the target after is refused, as HostRate.judge does.
func (h *hostSums) judge(ctx context.Context, before, after row) (refused, err error) {
	if h.rate.Limit <= 0 || after.Host == "" || h.rate.Exempt != nil && h.rate.Exempt(after.Host) {
		return nil, nil
	}
	if h.stored == nil {
		if h.regions, err = schedulestore.CountRegions(ctx, h.tx); err != nil {
			return nil, err
		}
		h.stored, h.added = map[string]float64{}, map[string]float64{}
	}
	had, err := h.wants(before)
	if err != nil {
		return nil, err
	}
	wants, err := h.wants(after)
	if err != nil {
		return nil, err
	}
	if wants > had+tolerance {
		others, err := h.of(ctx, after.Host)
		if err != nil {
			return nil, err
		}
		if others -= had; others+wants > h.rate.Limit+tolerance {
			return &HostRateError{Field: moreOf(before, after), Others: others, With: others + wants, Limit: h.rate.Limit}, nil
		}
	}
	h.added[after.Host] += wants - had
	return nil, nil
}

func (h *hostSums) wants(r row) (float64, error) {
	if !r.Active {
		return 0, nil
	}
	return demand{r.IntervalS, r.Regions, 1}.rate(h.regions)
}

func (h *hostSums) of(ctx context.Context, host string) (float64, error) {
	stored, known := h.stored[host]
	if !known {
		if len(h.stored) == 0 {
			if err := nameHosts(ctx, h.tx); err != nil {
				return 0, err
			}
		}
		var err error
		if stored, err = hostRate(ctx, h.tx, host, 0, h.regions); err != nil {
			return 0, err
		}
		h.stored[host] = stored
	}
	return stored + h.added[host], nil
}
