package httpapi

import (
	"fmt"
	"testing"
	"time"

	"gorm.io/gorm"

	"github.com/probefleet/probefleet/internal/blindstore"
	"github.com/probefleet/probefleet/internal/selfdoubt"
	"github.com/probefleet/probefleet/internal/verdict"
)

// blindness notes windows as whoever evaluates does.
func (b *bench) blindness(windows ...selfdoubt.Window) {
	b.Helper()
	err := b.db.Tx(b.Context(), func(tx *gorm.DB) error {
		for _, w := range windows {
			if err := blindstore.Note(b.Context(), tx, b.incidents, w, b.now); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		b.Fatal(err)
	}
}

func blindWindow(region string, sign selfdoubt.Sign, from, to time.Duration) selfdoubt.Window {
	w := selfdoubt.Window{Blindness: verdict.Blindness{Region: region, Span: verdict.Span{From: testNow.Add(from)}}, Sign: sign, Why: "none of 3 answers"}
	if to != 0 {
		w.To = testNow.Add(to)
	}
	return w
}

// Windows are listed newest first; while any of a region is open there is one incident about it.
func TestBlindWindows(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	eu, us := blindWindow("eu", selfdoubt.SignCanaries, -time.Hour, 0), blindWindow("us", selfdoubt.SignMassChange, -time.Minute, 0)
	b.blindness(eu, eu, us, blindWindow("eu", selfdoubt.SignMassChange, -30*time.Minute, 0))
	eu.To = testNow.Add(-20 * time.Minute)
	b.blindness(eu, eu)
	type items struct {
		Items []struct {
			Region, Sign string
			To           *time.Time
			IncidentID   int64 `json:"incident_id"`
		}
		Next string `json:"next_cursor"`
	}
	list := func(query string) (text string, next string) {
		var page items
		b.do("GET", "/api/v1/blind-windows"+query, "", as(viewerKey)).into(t, &page)
		for _, w := range page.Items {
			text += fmt.Sprint(w.Region, " ", w.Sign, " ", w.To == nil, " ", w.IncidentID, "; ")
		}
		return text, page.Next
	}
	first, next := list("?limit=2")
	second, _ := list("?limit=2&cursor=" + next)
	if got := first + second; got != "eu mass_change true 1; us mass_change true 2; eu canaries false 1; " {
		t.Error(got)
	}
	if got, _ := list("?region=eu&state=open"); got != "eu mass_change true 1; " {
		t.Error(got)
	}
	var all struct {
		Items []struct {
			Target   struct{ Name, Kind string }
			TargetID int64 `json:"target_id"`
			State    string
		}
	}
	b.do("GET", "/api/v1/incidents", "", as(viewerKey)).into(t, &all)
	if got := fmt.Sprint(all.Items); got != "[{{Region us region} 0 open} {{Region eu region} 0 open}]" {
		t.Error(got)
	}
	last := blindWindow("eu", selfdoubt.SignMassChange, -30*time.Minute, -time.Minute)
	b.blindness(last, last)
	b.do("GET", "/api/v1/incidents", "", as(viewerKey)).into(t, &all)
	if got := fmt.Sprint(all.Items); got != "[{{Region us region} 0 open} {{Region eu region} 0 resolved}]" {
		t.Error(got)
	}
}
