package httpapi

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
)

// fakeLetters are those that lie there, oldest first.
type fakeLetters struct {
	there []checkstream.Letter
	asked [][]string
	err   error
}

func (f *fakeLetters) List(_ context.Context, after string, limit int) ([]checkstream.Letter, error) {
	at := slices.IndexFunc(f.there, func(l checkstream.Letter) bool { return l.ID == after }) + 1
	return f.there[at:min(at+limit, len(f.there))], f.err
}

func (f *fakeLetters) Get(_ context.Context, id string) (checkstream.Letter, error) {
	at := slices.IndexFunc(f.there, func(l checkstream.Letter) bool { return l.ID == id })
	if at < 0 && f.err == nil {
		return checkstream.Letter{}, checkstream.ErrNoLetter
	}
	if f.err != nil {
		return checkstream.Letter{}, f.err
	}
	return f.there[at], nil
}

func (f *fakeLetters) Ask(_ context.Context, ids []string) (int, error) {
	f.asked = append(f.asked, ids)
	for i := range f.there {
		if slices.Contains(ids, f.there[i].ID) {
			f.there[i].Replay, f.there[i].ReplayAsked = checkstream.ReplayAsked, testNow
		}
	}
	return len(ids), f.err
}

func someLetters() []checkstream.Letter {
	return []checkstream.Letter{
		{ID: "1-0", Region: "eu", EntryID: "1772366400-7", TargetID: 7, ScheduledAt: testNow.Add(-time.Minute), Reason: "died of it three times", Prober: "eu-1", Deliveries: 4, At: testNow, Check: &uptime.Check{}, Raw: "f=secret"},
		{ID: "2-0", Region: "us", Reason: "its row was refused", At: testNow, Row: &uptime.Result{}, Replay: checkstream.ReplayGivenUp, ReplayAsked: testNow, ReplayTries: 3},
		{ID: "3-0", Region: "us", ScheduledAt: time.Unix(0, 0), Reason: "garbage", At: testNow, Raw: "x=y"},
	}
}

func TestDeadLettersAreListed(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	if got := b.do("GET", "/api/v1/dead-letters", "", as(viewerKey)); got.Code != http.StatusOK || got.text != `{"items":[],"next_cursor":null}`+"\n" {
		t.Errorf("none: %d %s", got.Code, got.text)
	}
	b.letters.there = someLetters()
	got := b.do("GET", "/api/v1/dead-letters?limit=2", "", as(viewerKey))
	for _, want := range []string{
		`{"id":"1-0","kind":"check","region":"eu","entry_id":"1772366400-7","target_id":7,"scheduled_at":"2026-03-01T11:59:00.000Z","reason":"died of it three times","prober":"eu-1","deliveries":4,"at":"2026-03-01T12:00:00.000Z","replayable":true,"replay":"","asked_at":null,"tries":0}`,
		`"id":"2-0","kind":"row"`, `"scheduled_at":null`, `"replay":"given_up","asked_at":"2026-03-01T12:00:00.000Z","tries":3`,
	} {
		if !strings.Contains(got.text, want) {
			t.Errorf("the list does not say %s: %s", want, got.text)
		}
	}
	if strings.Contains(got.text, "secret") || strings.Contains(got.text, `"id":"3-0"`) {
		t.Errorf("too much is said: %s", got.text)
	}
	_, rest, _ := strings.Cut(got.text, `"next_cursor":"`)
	cursor, _, _ := strings.Cut(rest, `"`)
	if got := b.do("GET", "/api/v1/dead-letters?limit=2&cursor="+cursor, "", as(viewerKey)); !strings.Contains(got.text, `"id":"3-0"`) || !strings.Contains(got.text, `"scheduled_at":null`) || !strings.Contains(got.text, `"replayable":false`) || !strings.Contains(got.text, `"next_cursor":null`) {
		t.Errorf("the next page: %s", got.text)
	}
	if got := b.do("GET", "/api/v1/dead-letters?limit=3", "", as(viewerKey)); !strings.Contains(got.text, `"id":"3-0"`) || !strings.Contains(got.text, `"next_cursor":null`) {
		t.Errorf("a last page that is full leads to another: %s", got.text)
	}
	if got := b.do("GET", "/api/v1/dead-letters?cursor=nonsense", "", as(viewerKey)); got.Code != http.StatusUnprocessableEntity {
		t.Errorf("a cursor of another list: %d", got.Code)
	}
	b.letters.err = errors.New("away")
	if got := b.do("GET", "/api/v1/dead-letters", "", as(viewerKey)); got.Code != http.StatusServiceUnavailable {
		t.Errorf("without redis: %d %s", got.Code, got.text)
	}
}

func TestDeadLettersAreReplayedOnce(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.letters.there = someLetters()
	const body = `{"ids":["1-0","2-0","3-0","9-9","1-0"]}`
	for range 2 { // once more changes nothing
		if got := b.do("POST", "/api/v1/dead-letters:replay", body, as(ownerKey)); got.Code != http.StatusOK || strings.TrimSpace(got.text) != `{"asked":2,"gone":1,"unreadable":1}` {
			t.Errorf("%d %s", got.Code, got.text)
		}
	}
	if len(b.letters.asked) != 1 || !slices.Equal(b.letters.asked[0], []string{"1-0", "2-0"}) {
		t.Errorf("asked for %v", b.letters.asked)
	}
	if got := b.do("POST", "/api/v1/dead-letters:replay", body, as(editorKey)); got.Code != http.StatusForbidden {
		t.Errorf("an editor: %d", got.Code)
	}
	if got := b.do("POST", "/api/v1/dead-letters:replay", `{"ids":[]}`, as(ownerKey)); got.Code != http.StatusUnprocessableEntity {
		t.Errorf("none: %d", got.Code)
	}
	if got := b.do("POST", "/api/v1/dead-letters:replay", `{"ids":["1-0"`+strings.Repeat(`,"1-0"`, mostLetters)+`]}`, as(ownerKey)); got.Code != http.StatusUnprocessableEntity {
		t.Errorf("too many: %d", got.Code)
	}
	var audited int64
	if err := b.db.Read().Raw("SELECT count(*) FROM audit_log WHERE action = 'dead-letter.replayed'").Row().Scan(&audited); err != nil || audited != 1 {
		t.Errorf("%d lines in the audit log, %v", audited, err)
	}
	b.letters.err = errors.New("away")
	if got := b.do("POST", "/api/v1/dead-letters:replay", body, as(ownerKey)); got.Code != http.StatusServiceUnavailable {
		t.Errorf("without redis: %d %s", got.Code, got.text)
	}
}
