package httpapi

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"time"

	"github.com/probefleet/probefleet/internal/resultstore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

type currentTick struct {
	ResultTick
	Fresh bool `json:"fresh" doc:"whether it says how the target is now: a measurement does, until two intervals and the timeout after its slot (of a heartbeat the grace, too), or until the target was made to be visited otherwise, as on live pages. What is false is no evidence of anything now. On a copy, as of when that was made"`
}

type currentBody struct {
	TargetID int64         `json:"target_id"`
	Results  []currentTick `json:"results" nullable:"false" doc:"by region; of those that check the target now, and of external checkers"`
}

type currentPage struct {
	StaleSince nullable[instant] `json:"stale_since,omitzero" doc:"only on a copy: when it was made; it says nothing of how the targets are now"`
	Items      []currentBody     `json:"items" nullable:"false" doc:"a target each, with the newest result of each of its regions"`
	NextCursor nullable[string]  `json:"next_cursor" doc:"null on the last page"`
}

func (a *api) currentResults(ctx context.Context, in *struct {
	Limit  int    `query:"limit" minimum:"1" maximum:"10000" default:"1000" doc:"how many targets at most"`
	Cursor string `query:"cursor" maxLength:"200" doc:"next_cursor of the page before"`
}) (*pastOutput[currentPage], error) {
	after, err := readIDCursor(in.Cursor)
	if err != nil {
		return nil, err
	}
	targets, err := a.Targets.List(ctx, targetstore.Filter{AfterID: after, Limit: in.Limit + 1})
	if err != nil {
		return nil, err
	}
	var next nullable[string]
	if len(targets) > in.Limit {
		targets = targets[:in.Limit]
		next = idCursor(targets[in.Limit-1].ID)
	}
	ids := idsOf(targets) // those there are: nothing of a deleted target is shown
	return past(ctx, a, fmt.Sprintf("current %x", sha256.Sum256(fmt.Append(nil, ids))), func(ctx context.Context) (currentPage, error) {
		page := currentPage{Items: make([]currentBody, len(ids)), NextCursor: next}
		if len(ids) == 0 {
			return page, nil
		}
		rows, err := a.Results.Current(ctx, ids)
		if err != nil {
			return page, asked(err)
		}
		now, at := a.Now(), make(map[int64]int, len(ids))
		rules := make([]verdict.Rules, len(ids))
		for i, target := range targets {
			at[target.ID], rules[i] = i, a.Hub.Rules(target)
			page.Items[i] = currentBody{TargetID: target.ID, Results: []currentTick{}}
		}
		for i, tick := range ticksOf(rows) {
			n, found := at[rows[i].TargetID]
			if found && (slices.Contains(rules[n].Regions, tick.Region) || uptime.Outside(tick.Region)) {
				page.Items[n].Results = append(page.Items[n].Results, currentTick{tick, isEvidence(&rows[i], rules[n], now)})
			}
		}
		return page, nil
	})
}

// isEvidence says whether a row says how its target is now, by the rule of live pages. What was
// measured after its check had expired is none; rows of the present tell that by their times.
func isEvidence(b *resultstore.Bar, rules verdict.Rules, now time.Time) bool {
	late := !b.CheckedAt.Before(b.ScheduledAt.Add(uptime.Expiry(rules.Interval)))
	return b.Status.Measured() && !late && !rules.FreshUntil(b.ScheduledAt).Before(now)
}
