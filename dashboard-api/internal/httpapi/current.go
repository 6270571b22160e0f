package httpapi

import (
	"context"
	"crypto/sha256"
	"fmt"

	"github.com/probefleet/probefleet/internal/targetstore"
)

type currentPage struct {
	StaleSince nullable[instant] `json:"stale_since,omitzero" doc:"only on a copy: when it was made; it says nothing of how the targets are now"`
	Items      []latestBody      `json:"items" nullable:"false" doc:"a target each, with the newest result of each of its regions"`
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
		page := currentPage{Items: make([]latestBody, len(ids)), NextCursor: next}
		if len(ids) == 0 {
			return page, nil
		}
		rows, err := a.Results.Current(ctx, ids)
		if err != nil {
			return page, asked(err)
		}
		at := make(map[int64]int, len(ids))
		for i, id := range ids {
			at[id] = i
			page.Items[i] = latestBody{TargetID: id, Results: []tickBody{}}
		}
		for i, tick := range ticksOf(rows) {
			if n, found := at[rows[i].TargetID]; found {
				page.Items[n].Results = append(page.Items[n].Results, tick)
			}
		}
		return page, nil
	})
}
