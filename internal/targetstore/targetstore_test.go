package targetstore_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/database/databasetest"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/targetstore"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

func TestMain(m *testing.M) { testbackend.Main(m) }

func example(name string) uptime.Target {
	return uptime.Target{
		Name: name, URL: "https://example.com/" + name, Kind: uptime.KindHTTP, Interval: time.Minute, Timeout: 1500 * time.Millisecond,
		Regions: []string{"us", "eu"}, Active: true, Spec: uptime.Spec{Expect: uptime.Expect{Status: []uptime.StatusRange{{From: 200, To: 299}, {From: 404, To: 404}}}},
	}
}

func create(t testing.TB, store *targetstore.Store, target uptime.Target) uptime.Target {
	t.Helper()
	created, err := store.Create(t.Context(), target)
	if err != nil {
		t.Fatal(err)
	}
	return created
}

func TestTargetKeepsEveryField(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db)
		paused := uptime.Target{Name: "paused", URL: "http://example.com/", Kind: uptime.KindHTTP, Interval: 24 * time.Hour, Timeout: time.Second}
		full := example("full")
		full.Policy, full.Tags = `{"down_after":3}`, []string{"prod", "team:db"}
		for _, want := range []uptime.Target{full, paused} {
			created := create(t, store, want)
			if created.ID == 0 || created.SpecVersion == 0 || time.Since(created.CreatedAt) > time.Minute || !created.UpdatedAt.Equal(created.CreatedAt) {
				t.Errorf("not assigned: %+v", created)
			}
			want.ID, want.SpecVersion, want.CreatedAt, want.UpdatedAt = created.ID, created.SpecVersion, created.CreatedAt, created.UpdatedAt
			if want.Regions != nil {
				want.Regions = []string{"eu", "us"}
			}
			got, err := store.Get(t.Context(), created.ID)
			if diff := cmp.Diff(want, got); err != nil || diff != "" {
				t.Error(err, diff)
			}
			if diff := cmp.Diff(want, created); diff != "" {
				t.Error(diff)
			}
		}
	})
}

// What Update answers must be what was stored: every field is changed and read again.
func TestEditsAreStored(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db)
		target := create(t, store, example("a"))
		five := 5
		updated, err := store.Update(t.Context(), target.ID, 0, func(t *uptime.Target) error {
			t.Name, t.URL, t.Kind, t.Interval, t.Timeout, t.Regions, t.Active = "b", "wss://example.org/", uptime.KindWebSocket, time.Hour, time.Second, nil, false
			t.Policy, t.Tags = `{"for_s":60}`, []string{"x"}
			t.Spec = uptime.Spec{
				Family: uptime.FamilyV6, Assertions: []uptime.Assertion{{Source: uptime.SourceLatency, Op: uptime.OpLess, Value: "100", Severity: uptime.SeverityDegrade}},
				HTTP:      &uptime.HTTPSpec{Method: "POST", Headers: []uptime.Header{{Name: "X", Secret: "s1.x.y"}}, Body: "a\x00<b>\u2028", Redirects: &five},
				TCP:       &uptime.TCPSpec{StartTLS: uptime.StartTLSIMAP},
				TLS:       &uptime.TLSSpec{ServerName: "example.net"},
				DNS:       &uptime.DNSSpec{Transport: uptime.DNSOverTLS},
				WebSocket: &uptime.WebSocketSpec{Subprotocols: []string{"a", "b"}},
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := store.Get(t.Context(), target.ID)
		if diff := cmp.Diff(updated, got); err != nil || diff != "" || got.Spec.HTTP == nil {
			t.Errorf("%v %s", err, diff)
		}
	})
}

// What was seen of a target is of what it is no more once it is visited otherwise, and of nothing
// else that is edited.
func TestEditsSayWhatIsVisitedOtherwise(t *testing.T) {
	t.Parallel()
	edits := []struct {
		name      string
		edit      func(*uptime.Target)
		otherwise bool
	}{
		{"name, policy, pace", func(t *uptime.Target) {
			t.Name, t.Policy, t.Interval, t.Timeout, t.Regions, t.Active, t.Tags = "b", `{"for_s":60}`, time.Hour, time.Second, nil, false, []string{"x"}
			t.VisitedSince = time.Now()
		}, false},
		{"URL", func(t *uptime.Target) { t.URL += "other" }, true},
		{"nothing", func(*uptime.Target) {}, false},
		{"spec", func(t *uptime.Target) { t.Spec.Family = uptime.FamilyV6 }, true},
		{"paused", func(t *uptime.Target) { t.Active = true }, false},
		{"kind", func(t *uptime.Target) {
			t.Kind, t.URL, t.Spec = uptime.KindHeartbeat, "heartbeat://b", uptime.Spec{Heartbeat: &uptime.HeartbeatSpec{PeriodS: 3600}}
		}, true},
		{"plan of a heartbeat", func(t *uptime.Target) {
			t.URL, t.Spec.Heartbeat = "heartbeat://c", &uptime.HeartbeatSpec{PeriodS: 60}
		}, false},
	}
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db)
		want := create(t, store, example("a"))
		if !want.VisitedSince.IsZero() {
			t.Errorf("created: %+v", want.VisitedSince)
		}
		for _, e := range edits {
			got, err := store.Update(t.Context(), want.ID, 0, func(t *uptime.Target) error { e.edit(t); return nil })
			if err != nil {
				t.Fatal(e.name, err)
			}
			since := want.VisitedSince
			if e.otherwise {
				since = got.UpdatedAt
			}
			if !got.VisitedSince.Equal(since) {
				t.Errorf("%s: %+v, want %+v", e.name, got.VisitedSince, since)
			}
			want = got
		}
		moved := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
		by := store.WithClock(func() time.Time { return moved })
		if got, err := by.Update(t.Context(), want.ID, 0, func(t *uptime.Target) error {
			t.Kind, t.URL, t.Spec = uptime.KindTCP, "tcp://example.com:1", uptime.Spec{}
			return nil
		}); err != nil || !got.VisitedSince.Equal(moved) || !got.UpdatedAt.Equal(moved) {
			t.Errorf("by another clock: %+v, %v", got, err)
		}
		known, err := schedulestore.New(db).KnownAt(t.Context(), []int64{want.ID}, moved)
		if got := known[want.ID]; err != nil || !got.VisitedSince.Equal(moved) {
			t.Errorf("its versions say %+v, %v", got, err)
		}
		spec := func(t *uptime.Target) error { t.Spec.Heartbeat, t.Spec.Family = nil, uptime.FamilyV4; return nil }
		other := create(t, store, example("other"))
		for _, dry := range []bool{true, false} {
			outcomes, err := store.UpdateMany(t.Context(), askFor(other), dry, spec)
			if err != nil {
				t.Fatal(err)
			}
			got, since := outcomes[0].Target, time.Time{}
			if !dry {
				since = got.UpdatedAt
			}
			known, err := schedulestore.New(db).KnownAt(t.Context(), []int64{other.ID}, time.Now().Add(time.Minute))
			if err != nil || !known[other.ID].VisitedSince.Equal(since) {
				t.Errorf("many, dry %v: the versions say %+v, %v", dry, known[other.ID], err)
			}
			if !got.VisitedSince.Equal(since) {
				t.Errorf("many, dry %v: %+v, want %+v", dry, got.VisitedSince, since)
			}
		}
	})
}

// Every change of a target is one schedule version, committed with it.
func TestEveryChangeIsAVersion(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store, schedules := targetstore.New(db), schedulestore.New(db)
		target := create(t, store, example("a"))
		updated, err := store.Update(t.Context(), target.ID, 0, func(t *uptime.Target) error {
			t.Interval, t.Active, t.ID, t.SpecVersion = 10*time.Second, false, 99, 99 // the last two are not its to edit
			return nil
		})
		if err != nil || updated.ID != target.ID || updated.SpecVersion != target.SpecVersion+1 || updated.Active {
			t.Fatalf("%+v, %v", updated, err)
		}
		same, err := store.Update(t.Context(), target.ID, 0, func(*uptime.Target) error { return nil })
		if diff := cmp.Diff(updated, same); err != nil || diff != "" {
			t.Errorf("an edit of nothing: %v %s", err, diff)
		}
		refused := errors.New("refused")
		_, err = store.Update(t.Context(), target.ID, 0, func(t *uptime.Target) error { t.Name = "b"; return refused })
		if !errors.Is(err, refused) {
			t.Errorf("the callback's error was not passed on: %v", err)
		}
		if err := store.Delete(t.Context(), target.ID, 0); err != nil {
			t.Fatal(err)
		}
		var got []schedulestore.Version
		err = schedules.EachVersion(t.Context(), 0, func(v schedulestore.Version) error { got = append(got, v); return nil })
		regions := []string{"eu", "us"}
		want := []schedulestore.Version{
			{Seq: 1, Schedule: uptime.Schedule{TargetID: target.ID, Interval: time.Minute, Regions: regions, Active: true}},
			{Seq: 2, Schedule: uptime.Schedule{TargetID: target.ID, Interval: 10 * time.Second, Regions: regions}},
			{Seq: 3, Schedule: uptime.Schedule{TargetID: target.ID, Interval: 10 * time.Second, Regions: regions}, Deleted: true},
		}
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Error(err, diff)
		}
	})
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db)
		a, b := create(t, store, example("a")), create(t, store, example("b"))
		rename := func(name string) func(*uptime.Target) error {
			return func(t *uptime.Target) error { t.Name = name; return nil }
		}
		_, errCreate := store.Create(t.Context(), example("a"))
		_, errRename := store.Update(t.Context(), b.ID, 0, rename("a"))
		_, errStale := store.Update(t.Context(), a.ID, a.SpecVersion+100, rename("c"))
		_, errGone := store.Update(t.Context(), 12345, 0, rename("c"))
		_, errGet := store.Get(t.Context(), 12345)
		for name, c := range map[string]struct{ got, want error }{
			"create under a taken name": {errCreate, targetstore.ErrNameTaken},
			"rename to a taken name":    {errRename, targetstore.ErrNameTaken},
			"update an old version":     {errStale, targetstore.ErrConflict},
			"update what is not there":  {errGone, targetstore.ErrNotFound},
			"get what is not there":     {errGet, targetstore.ErrNotFound},
			"delete an old version":     {store.Delete(t.Context(), a.ID, a.SpecVersion+100), targetstore.ErrConflict},
			"delete what is not there":  {store.Delete(t.Context(), 12345, 0), targetstore.ErrNotFound},
		} {
			if !errors.Is(c.got, c.want) {
				t.Errorf("%s: %v", name, c.got)
			}
		}
		if seq, err := schedulestore.New(db).Seq(t.Context()); err != nil || seq != 2 {
			t.Errorf("refused changes used up numbers: seq %d, %v", seq, err)
		}
		if _, err := store.Update(t.Context(), a.ID, a.SpecVersion, rename("c")); err != nil {
			t.Errorf("update of the current version: %v", err)
		}
	})
}

// Many editors with the same version in hand: one wins, the others are told.
func TestOneEditorWins(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db)
		target := create(t, store, example("a"))
		outcomes := make(chan error, 20)
		for i := range cap(outcomes) {
			go func() {
				_, err := store.Update(t.Context(), target.ID, target.SpecVersion, func(t *uptime.Target) error {
					t.Name = fmt.Sprint("editor ", i)
					return nil
				})
				outcomes <- err
			}()
		}
		var won int
		for range cap(outcomes) {
			if err := <-outcomes; err == nil {
				won++
			} else if !errors.Is(err, targetstore.ErrConflict) {
				t.Error(err)
			}
		}
		if won != 1 {
			t.Errorf("%d of %d editors won", won, cap(outcomes))
		}
	})
}

// A new target must not inherit a deleted one's tombstone and history.
func TestIDIsNeverUsedAgain(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db)
		var last int64
		for range 5 {
			target := create(t, store, example("a"))
			if target.ID <= last {
				t.Fatalf("id %d after %d", target.ID, last)
			}
			last = target.ID
			if err := store.Delete(t.Context(), target.ID, target.SpecVersion); err != nil {
				t.Fatal(err)
			}
		}
	})
}

func TestListsAndStreams(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		const many = 510 // more than one statement takes
		store := targetstore.New(db)
		var group errgroup.Group
		group.SetLimit(8)
		for i := range many {
			group.Go(func() error {
				target := example(fmt.Sprintf("Target-%04d", i))
				target.Active = i%3 != 0
				_, err := store.Create(t.Context(), target)
				return err
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		create(t, store, example("100% sure"))
		create(t, store, example("100_ sure"))
		active := true
		for name, c := range map[string]struct {
			filter targetstore.Filter
			want   int
		}{
			"first page":        {targetstore.Filter{}, 100},
			"active only":       {targetstore.Filter{Active: &active, Limit: 5000}, many/3*2 + 2},
			"any case":          {targetstore.Filter{Search: "tArGeT-000", Limit: 1000}, 10},
			"by URL":            {targetstore.Filter{Search: "COM/target-0509", Limit: 1000}, 1},
			"percent is a sign": {targetstore.Filter{Search: "100%"}, 1},
			"so is underscore":  {targetstore.Filter{Search: "100_"}, 1},
			"nothing":           {targetstore.Filter{Search: `\`}, 0},
		} {
			list, err := store.List(t.Context(), c.filter)
			if err != nil || len(list) != c.want {
				t.Errorf("%s: %d targets, %v; want %d", name, len(list), err, c.want)
			}
		}
		var ids []int64
		for after := int64(0); ; {
			page, err := store.List(t.Context(), targetstore.Filter{AfterID: after, Limit: 250})
			if err != nil {
				t.Fatal(err)
			}
			if len(page) == 0 {
				break
			}
			for _, target := range page {
				if target.ID <= after {
					t.Fatalf("id %d after %d", target.ID, after)
				}
				after = target.ID
				ids = append(ids, target.ID)
			}
		}
		byIDs, err := store.ByIDs(t.Context(), append(ids, 999_999, ids[0]))
		if err != nil || len(byIDs) != many+2 {
			t.Errorf("ByIDs: %d targets, %v", len(byIDs), err)
		}
		var streamed []uptime.Target
		if err := store.Each(t.Context(), func(target uptime.Target) error { streamed = append(streamed, target); return nil }); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(byIDs, streamed); diff != "" {
			t.Error(diff)
		}
	})
}

func TestOutageIsNotAnAnswer(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db)
		create(t, store, example("a"))
		late, cancel := context.WithDeadline(t.Context(), time.Now().Add(-time.Second))
		defer cancel()
		if list, err := store.List(late, targetstore.Filter{}); !errors.Is(err, database.ErrUnavailable) || list != nil {
			t.Errorf("out of time: %v, %v", list, err)
		}
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := store.Get(gone, 1); !errors.Is(err, context.Canceled) || errors.Is(err, database.ErrUnavailable) {
			t.Errorf("cancelled by the caller: %v", err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		_, errGet := store.Get(t.Context(), 1)
		_, errCreate := store.Create(t.Context(), example("b"))
		errEach := store.Each(t.Context(), func(uptime.Target) error { return nil })
		for _, err := range []error{errGet, errCreate, errEach, store.Delete(t.Context(), 1, 0), db.Ping(t.Context())} {
			if !errors.Is(err, database.ErrUnavailable) || errors.Is(err, targetstore.ErrNotFound) {
				t.Errorf("closed: %v", err)
			}
		}
	})
}

// A newer release may have written one of them, before a rollback or on another node: the others are read,
// and this one can be paused, changed with many and deleted, and loses nothing by that.
func TestOneThatCannotBeReadKeepsNobodyAndLosesNothing(t *testing.T) {
	t.Parallel()
	databasetest.Each(t, func(t *testing.T, db *database.DB) {
		store := targetstore.New(db)
		first, newer, last := create(t, store, example("first")), create(t, store, example("newer")), create(t, store, example("last"))
		const text = `{"family":"4","of_a_later_release":{"a":"<b>"}}`
		if err := db.Write().Exec("UPDATE targets SET spec = ? WHERE id = ?", text, newer.ID).Error; err != nil {
			t.Fatal(err)
		}
		check := func(when string, active bool) {
			t.Helper()
			var ids []int64
			err := store.Each(t.Context(), func(target uptime.Target) error { ids = append(ids, target.ID); return nil })
			if err != nil || len(ids) != 3 {
				t.Errorf("%s: each: %v %v", when, ids, err)
			}
			some, err := store.ByIDs(t.Context(), []int64{first.ID, newer.ID, last.ID})
			if err != nil || len(some) != 3 || some[1].Spec.Text() != text || some[1].Spec.Unread == "" || some[1].Active != active {
				t.Errorf("%s: %+v %v", when, some, err)
			}
		}
		check("written", true)
		if _, err := store.Update(t.Context(), newer.ID, 0, pause); err != nil {
			t.Error(err)
		}
		check("paused", false)
		outcomes, err := store.UpdateMany(t.Context(), askFor(first, newer, last), false, func(target *uptime.Target) error { target.Active = true; return nil })
		if err != nil || !outcomes[1].Changed {
			t.Errorf("%+v %v", outcomes, err)
		}
		check("resumed", true)
		if err := store.Delete(t.Context(), newer.ID, 0); err != nil {
			t.Error(err)
		}
	})
}
