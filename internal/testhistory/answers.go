package testhistory

import (
	"encoding/json"
	"fmt"
	"net/http"
	"time"

	"github.com/probefleet/probefleet/internal/availability"
	"github.com/probefleet/probefleet/internal/uptime"
)

// ask decodes an answer of the API.
func (c *Chronicle) ask(path string, into any) {
	c.Helper()
	code, text := c.get("/api/v1/" + path)
	if code != http.StatusOK {
		c.Fatalf("%s: %d %s", path, code, text)
	}
	if err := json.Unmarshal([]byte(text), into); err != nil {
		c.Fatalf("%s: %v in %s", path, err, text)
	}
}

// askTarget is for answers about the target alone.
func (c *Chronicle) askTarget(path string, into any) {
	c.Helper()
	c.ask(fmt.Sprintf("targets/%d/%s", c.id, path), into)
}

func (c *Chronicle) window() string {
	return "from=" + c.from.Format(time.RFC3339) + "&to=" + c.to.Format(time.RFC3339)
}

// item is a result as it is told.
type item struct {
	Region      string    `json:"region"`
	ScheduledAt time.Time `json:"scheduled_at"`
	Status      string    `json:"status"`
	TotalUS     uint32    `json:"total_us"`
	Fresh       bool      `json:"fresh"`
}

func itemOf(r uptime.Result) item {
	return item{Region: r.Region, ScheduledAt: r.ScheduledAt.UTC(), Status: r.Status.String(), TotalUS: r.TotalUS}
}

// rows are the results that the API lists.
func (c *Chronicle) rows() map[uptime.Slot]item {
	c.Helper()
	rows := map[uptime.Slot]item{}
	for cursor := ""; ; {
		var page struct {
			Items      []item  `json:"items"`
			NextCursor *string `json:"next_cursor"`
		}
		c.askTarget("results?limit=100&"+c.window()+"&cursor="+cursor, &page)
		for _, one := range page.Items {
			slot := uptime.Slot{TargetID: c.id, Region: one.Region, ScheduledAt: one.ScheduledAt.UTC()}
			if _, twice := rows[slot]; twice {
				c.Errorf("%v is listed twice", slot)
			}
			rows[slot] = one
		}
		if page.NextCursor == nil {
			return rows
		}
		cursor = *page.NextCursor
	}
}

type ofTargets struct {
	Items []struct {
		TargetID int64  `json:"target_id"`
		Results  []item `json:"results"`
	} `json:"items"`
}

// ofTarget are the results of the target in an answer about several.
func (c *Chronicle) ofTarget(path string) []item {
	c.Helper()
	var page ofTargets
	c.ask(path, &page)
	for _, one := range page.Items {
		if one.TargetID == c.id {
			return one.Results
		}
	}
	return nil
}

// latest are its newest slots, newest first.
func (c *Chronicle) latest() []item {
	c.Helper()
	return c.ofTarget(fmt.Sprintf("results/latest?n=%d&ids=%d", 1000, c.id))
}

// current is the newest result of each region.
func (c *Chronicle) current() []item {
	c.Helper()
	return c.ofTarget("results/current?limit=1000")
}

// apiCounts are the counts of an answer.
type apiCounts struct {
	Region                              string
	Up, Degraded, Down, Unknown, Missed uint64
	RevisedAt                           *time.Time `json:"revised_at"`
}

func (n apiCounts) counts() availability.Counts {
	return availability.Counts{Up: n.Up, Degraded: n.Degraded, Down: n.Down, Unknown: n.Unknown, Missed: n.Missed}
}

// days are what the API's uptime says of each day, from rollups, and which were corrected.
func (c *Chronicle) days() (counts map[cell]availability.Counts, revised map[cell]bool) {
	c.Helper()
	var answer struct {
		Periods []struct {
			From    time.Time
			Folded  apiCounts
			Regions []apiCounts
		}
	}
	c.askTarget("uptime?by=day&"+c.window(), &answer)
	counts, revised = map[cell]availability.Counts{}, map[cell]bool{}
	for _, p := range answer.Periods {
		for _, one := range append(p.Regions, p.Folded) {
			at := cell{one.Region, p.From.UTC()}
			if one.counts() != (availability.Counts{}) {
				counts[at] = one.counts()
			}
			if one.RevisedAt != nil {
				revised[at] = true
			}
		}
	}
	return counts, revised
}

// hours are what the API's uptime says of the hours of a day, one by one, from results.
func (c *Chronicle) hours(from time.Time, n int) map[cell]availability.Counts {
	c.Helper()
	counts := map[cell]availability.Counts{}
	for at := from; at.Before(from.Add(time.Duration(n) * hour)); at = at.Add(hour) {
		var answer struct {
			Folded  apiCounts
			Regions []apiCounts
		}
		c.askTarget("uptime?from="+at.Format(time.RFC3339)+"&to="+at.Add(hour).Format(time.RFC3339), &answer)
		for _, one := range append(answer.Regions, answer.Folded) {
			if one.counts() != (availability.Counts{}) {
				counts[cell{one.Region, at}] = one.counts()
			}
		}
	}
	return counts
}

// series are the counts of the API's series of a region, by hour.
func (c *Chronicle) series(region string) map[cell]availability.Counts {
	c.Helper()
	var answer struct {
		X                                   []int64
		Up, Degraded, Down, Unknown, Missed []uint64
	}
	c.askTarget("series?step_s=3600&region="+region+"&"+c.window(), &answer)
	counts := map[cell]availability.Counts{}
	for i, x := range answer.X {
		if n := (availability.Counts{Up: answer.Up[i], Degraded: answer.Degraded[i], Down: answer.Down[i], Unknown: answer.Unknown[i], Missed: answer.Missed[i]}); n != (availability.Counts{}) {
			counts[cell{region, time.Unix(x, 0).UTC()}] = n
		}
	}
	return counts
}
