package httpapi

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/heartbeat"
	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/uptime"
)

// History counts what slots came to.
type History interface {
	// Cells hands fn the counts of each target, per region and as a whole (region ""), in
	// cells of its choice: never wider than asked, never across a cut unless what is kept
	// of that time is too coarse.
	Cells(ctx context.Context, q resultstore.CellQuery, fn func(targetID int64, region string, c availability.Cell) error) error
}

// Schedules knows how often targets were due, and from where.
type Schedules interface {
	Intervals(ctx context.Context, ids []int64) (map[int64]availability.Intervals, error)
	KnownAt(ctx context.Context, ids []int64, at time.Time) (map[int64]schedulestore.Known, error)
	RegionsUntil(ctx context.Context, at time.Time) ([]schedulestore.Regions, error)
}

// Corrections knows which hours with slots in [from, to) changed after they had closed: the
// newest changes of each target, and of every hour when it last did.
type Corrections interface {
	Revised(ctx context.Context, ids []int64, from, to time.Time) (map[int64][]availability.Correction, error)
	Corrections(ctx context.Context, ids []int64, from, to time.Time) (map[int64][]availability.Correction, error)
}

func idsOf(targets []uptime.Target) []int64 {
	ids := make([]int64, len(targets))
	for i, target := range targets {
		ids[i] = target.ID
	}
	return ids
}

// terms say for each target what counts in a window.
func (a *api) terms(ctx context.Context, targets []uptime.Target, window availability.Span) (map[int64]availability.Terms, error) {
	ids := idsOf(targets)
	maintenance, err := a.Maintenance.Maintenance(ctx, ids, window.From, window.To)
	if err != nil {
		return nil, err
	}
	blind, err := a.Blind.Blind(ctx, window.From, window.To)
	if err != nil {
		return nil, err
	}
	return a.termsAmid(ctx, targets, window, maintenance, blind)
}

// termsAmid are those amid this maintenance and blindness.
func (a *api) termsAmid(ctx context.Context, targets []uptime.Target, window availability.Span, maintenance map[int64]availability.Spans, blind map[string]availability.Spans) (map[int64]availability.Terms, error) {
	intervals, err := a.Schedules.Intervals(ctx, idsOf(targets))
	if err != nil {
		return nil, err
	}
	terms := make(map[int64]availability.Terms, len(targets))
	for _, target := range targets {
		every := intervals[target.ID]
		if len(every) == 0 { // no publisher has adopted it yet
			every = availability.NewIntervals(availability.Interval{From: target.CreatedAt, Every: target.Interval})
		}
		terms[target.ID] = availability.Terms{Window: window, Except: maintenance[target.ID], Blind: blindFor(target, blind), Every: bySlots(target, every, window)}
	}
	return terms, nil
}

// blindFor are the windows of the regions that may check a target.
func blindFor(target uptime.Target, blind map[string]availability.Spans) map[string]availability.Spans {
	if len(target.Regions) == 0 {
		return blind
	}
	of := map[string]availability.Spans{}
	for _, region := range target.Regions {
		if spans := blind[region]; len(spans) > 0 {
			of[region] = spans
		}
	}
	return of
}

// bySlots replaces the interval of a cron expression, which is the longest time between two
// of its slots, by the time between them: from when on it is the target's.
func bySlots(target uptime.Target, every availability.Intervals, window availability.Span) availability.Intervals {
	last := every[len(every)-1]
	if h := target.Spec.Heartbeat; h == nil || h.Cron == "" || last.Every != target.Interval {
		return every
	}
	if len(every) > 1 && last.From.After(window.From) {
		window.From = last.From
	}
	schedule, err := heartbeat.New(*target.Spec.Heartbeat)
	if err != nil || window.Empty() { // it was judged: only the machine's table of time zones can have changed
		return every
	}
	slots := schedule.Intervals(window)
	switch {
	case len(slots) == 0:
		return every
	case len(every) == 1:
		return slots
	}
	slots[0].From = window.From
	return availability.NewIntervals(append(slices.Clone(every[:len(every)-1]), slots...)...)
}

// corrected is what changed of a target: the newest changes, and the hours that any was of.
type corrected struct{ told, hours []availability.Correction }

type allCorrected struct {
	told, hours map[int64][]availability.Correction
}

func (c allCorrected) of(id int64) corrected {
	if hours, more := c.hours[id]; more {
		return corrected{c.told[id], hours}
	}
	return corrected{c.told[id], c.told[id]}
}

// corrections asks for the hours, too, where there are more changes than are told.
func (a *api) corrections(ctx context.Context, ids []int64, window availability.Span) (all allCorrected, err error) {
	if a.Corrections == nil {
		return all, nil
	}
	if all.told, err = a.Corrections.Corrections(ctx, ids, window.From, window.To); err != nil {
		return all, down(clickHouse, err)
	}
	var more []int64
	total := 0
	for id, told := range all.told {
		if total += len(told); len(told) >= resultstore.MaxCorrections {
			more = append(more, id)
		}
	}
	if total >= resultstore.MostCorrections {
		more = ids
	}
	if len(more) > 0 {
		all.hours, err = a.Corrections.Revised(ctx, more, window.From, window.To)
	}
	return all, down(clickHouse, err)
}

// idsPerQuestion bounds what ClickHouse holds at once for one question.
const idsPerQuestion = 200

// cells asks for the cells of many targets: those with the same cuts in one question. Where a
// region was blind the others are counted, unless the terms do not tell them apart.
func (a *api) cells(ctx context.Context, terms map[int64]availability.Terms, periods []availability.Period, q resultstore.CellQuery, fn func(int64, string, availability.Cell)) error {
	alike := map[string][]int64{}
	for id, t := range terms {
		name := fmt.Sprint(t.Cuts(periods), t.Blind)
		alike[name] = append(alike[name], id)
	}
	for _, name := range slices.Sorted(maps.Keys(alike)) {
		ids := alike[name]
		slices.Sort(ids)
		alike := terms[ids[0]]
		if q.Cuts, q.Blind = alike.Cuts(periods), alike.Blind; alike.Grain > 0 {
			q.Blind = nil
		}
		for chunk := range slices.Chunk(ids, idsPerQuestion) {
			q.IDs = chunk
			err := a.History.Cells(ctx, q, func(id int64, region string, c availability.Cell) error {
				fn(id, region, c)
				return nil
			})
			if err != nil {
				return down(clickHouse, err)
			}
		}
	}
	return nil
}

// accounts are those of targets, by region; region "" is the target as a whole.
type accounts map[int64]map[string]*availability.Account

// account sums up a window, and the periods it is divided into.
func (a *api) account(ctx context.Context, window availability.Span, terms map[int64]availability.Terms, periods []availability.Period) (accounts, error) {
	all := make(accounts, len(terms))
	for id, t := range terms {
		all[id] = map[string]*availability.Account{"": availability.NewAccount(t.In(""), periods)}
	}
	err := a.cells(ctx, terms, periods, resultstore.CellQuery{From: window.From, To: window.To}, func(id int64, region string, c availability.Cell) {
		series := all[id]
		if series[region] == nil {
			series[region] = availability.NewAccount(terms[id].In(region), periods)
		}
		series[region].Add(c)
	})
	return all, err
}

// sortedRegions are the regions of a target's accounts.
func sortedRegions(series map[string]*availability.Account) (regions []string) {
	for region := range series {
		if region != "" {
			regions = append(regions, region)
		}
	}
	slices.Sort(regions)
	return regions
}
