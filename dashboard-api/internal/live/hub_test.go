package live

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/probefleet/probefleet/internal/uptime"
	"github.com/probefleet/probefleet/internal/verdict"
)

type delta struct {
	T       string `json:"t"`
	Ch      string `json:"ch"`
	FromSeq uint64 `json:"from_seq"`
	Seq     uint64 `json:"seq"`
	Ops     []struct {
		Op   string `json:"op"`
		ID   any    `json:"id"`
		Item Target `json:"item"`
	} `json:"ops"`
}

func decode(t *testing.T, message []byte) delta {
	t.Helper()
	var d delta
	if err := json.Unmarshal(message, &d); err != nil {
		t.Fatalf("%v in %s", err, message)
	}
	return d
}

func target(id int64) uptime.Target {
	return uptime.Target{ID: id, Name: fmt.Sprint("t", id), URL: "https://x/", Kind: uptime.KindHTTP, Interval: 10 * time.Second, Timeout: 5 * time.Second, Active: true, SpecVersion: 1}
}

func result(id int64, region string, at time.Time, status uptime.Status) uptime.Result {
	r := uptime.Result{TargetID: id, Region: region, ScheduledAt: at, CheckedAt: at, Status: status, TotalUS: 1000, IngestedAt: at}
	if status == uptime.StatusDown {
		r.Failure = uptime.FailureTimeout
	}
	return r
}

// run starts a hub in a bubble and gives it back once it idles.
func run(t *testing.T) *Hub {
	h := New(Options{})
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); _ = h.Run(ctx) }()
	t.Cleanup(func() { cancel(); <-done })
	return h
}

// pass lets virtual time go by.
func pass(d time.Duration) { <-time.After(d); synctest.Wait() }

func frameNow() { pass(frameEvery + time.Millisecond) }

// The HTTP status of a gRPC answer says nothing: the sentence has the status that does.
func TestGRPCFailuresAreSaidInItsWords(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		kind uptime.Kind
		code int
		want string
	}{
		{uptime.KindGRPC, 200, "Down in 1 of 1 region: eu gRPC status 14 UNAVAILABLE."},
		{uptime.KindGRPC, 503, "Down in 1 of 1 region: eu status 503."},
		{uptime.KindHTTP, 200, "Down in 1 of 1 region: eu status 200."},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := run(t)
			one := target(1)
			one.Kind = c.kind
			h.Load([]uptime.Target{one}, nil, []string{"eu"})
			r := result(1, "eu", time.Now(), uptime.StatusDown)
			r.Failure, r.HTTPStatus, r.Message = uptime.FailureStatusCode, c.code, "grpc-status 14 (UNAVAILABLE): try later"
			h.Apply([]uptime.Result{r})
			frameNow()
			if items := h.Snapshot().Items; len(items) != 1 || items[0].Why != c.want {
				t.Errorf("%s, %d: %+v, want %q", c.kind, c.code, items, c.want)
			}
		})
	}
}

func TestNoTickIsLostByCoalescing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		h.Load([]uptime.Target{target(1)}, nil, []string{"eu", "us"})
		frameNow()
		snapshot := h.Snapshot()
		sub, _, recovered, err := h.Subscribe("targets", &Position{Epoch: snapshot.Epoch, Seq: snapshot.Seq})
		if err != nil || !recovered {
			t.Fatal(recovered, err)
		}
		start := time.Now().Truncate(time.Second)
		for i := range 20 {
			at := start.Add(time.Duration(i) * 10 * time.Second)
			h.Apply([]uptime.Result{result(1, "eu", at, uptime.StatusUp), result(1, "us", at, uptime.StatusUp)})
		}
		frameNow()
		d := decode(t, sub.Poll())
		if d.FromSeq != snapshot.Seq || len(d.Ops) != 1 || len(d.Ops[0].Item.Ticks) != 40 {
			t.Fatalf("from %d, %d ops, %d ticks", d.FromSeq, len(d.Ops), len(d.Ops[0].Item.Ticks))
		}
		if sub.Poll() != nil {
			t.Fatal("told twice")
		}
		h.Apply([]uptime.Result{result(1, "eu", start, uptime.StatusUp)}) // a replay
		missed := result(1, "eu", start, uptime.StatusMissed)
		missed.IngestedAt = start.Add(time.Hour)
		h.Apply([]uptime.Result{missed}) // a reason never hides a measurement
		frameNow()
		if m := sub.Poll(); m != nil {
			t.Fatalf("a replay was announced: %s", m)
		}
	})
}

// What changes a state is sent before its time, with all that is there by then; the rest waits for the
// frame. However much changes, there are twenty frames a second at most.
//
// Promise: a change of state is sent at once
func TestAChangeOfStateIsSentSoon(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		const targets = 40
		var all []uptime.Target
		for id := int64(1); id <= targets; id++ {
			all = append(all, target(id))
		}
		h.Load(all, nil, []string{"eu"})
		say := func(id int64, status uptime.Status) { h.Apply([]uptime.Result{result(id, "eu", time.Now(), status)}) }
		for id := range int64(targets) {
			say(id+1, uptime.StatusUp)
		}
		pass(frameSoon + frameEvery + time.Millisecond) // a frame was sent soon, and the next one after it
		sub, _, _, err := h.Subscribe("targets", nil)
		if err != nil {
			t.Fatal(err)
		}
		say(1, uptime.StatusUp)
		pass(frameSoon + time.Millisecond)
		if m := sub.Poll(); m != nil {
			t.Fatalf("nothing has changed: %s", m)
		}
		say(2, uptime.StatusDown)
		pass(frameSoon + time.Millisecond)
		if d := decode(t, sub.Poll()); len(d.Ops) != 2 || d.Ops[1].Item.State != "down" {
			t.Fatalf("not sent soon: %+v", d)
		}
		pass(time.Second)
		frames := 0
		for i := range 100 {
			say(int64(3+i%(targets-2)), []uptime.Status{uptime.StatusDown, uptime.StatusUp}[i/(targets-2)%2])
			pass(10 * time.Millisecond)
			if sub.Poll() != nil {
				frames++
			}
		}
		if frames < 18 || frames > 21 {
			t.Errorf("%d frames in a second of changes", frames)
		}
	})
}

// A target whose state changes all the time is in ten frames a second, and no tick of it is lost; the
// first change of another one is told at once all the same.
func TestATargetThatChangesAllTheTimeIsInTenFramesASecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		h.Load([]uptime.Target{target(1), target(2)}, nil, []string{"eu"})
		say := func(id int64, status uptime.Status) { h.Apply([]uptime.Result{result(id, "eu", time.Now(), status)}) }
		pass(time.Second)
		sub, _, _, err := h.Subscribe("targets", nil)
		if err != nil {
			t.Fatal(err)
		}
		const step = 5 * time.Millisecond
		var said, told, frames []time.Time
		var others []time.Duration
		var changed time.Time // the first change of another one that was not told yet
		seq := sub.At().Seq
		for i := range 400 {
			if i < 380 {
				say(1, []uptime.Status{uptime.StatusDown, uptime.StatusUp}[i%2])
				said = append(said, time.Now())
			}
			if i%97 == 50 { // at another time within a frame each
				say(2, []uptime.Status{uptime.StatusDown, uptime.StatusUp}[i/97%2])
				changed = time.Now()
			}
			pass(step)
			message := sub.Poll()
			if message == nil {
				continue
			}
			d := decode(t, message)
			if d.FromSeq != seq {
				t.Fatalf("from %d after %d", d.FromSeq, seq)
			}
			seq = d.Seq
			for _, o := range d.Ops {
				switch o.ID {
				case 1.0:
					frames = append(frames, time.Now())
					for _, tick := range o.Item.Ticks {
						told = append(told, tick.At)
					}
				case 2.0:
					others = append(others, time.Since(changed))
				}
			}
		}
		if !slices.EqualFunc(told, said, time.Time.Equal) {
			t.Errorf("told %d ticks of %d, or in another order", len(told), len(said))
		}
		for i := range frames[1:] {
			if apart := frames[i+1].Sub(frames[i]); apart < frameEvery {
				t.Errorf("in a frame again after %v", apart)
			}
		}
		if len(frames) < 18 {
			t.Errorf("in %d frames in two seconds", len(frames))
		}
		if len(others) != 4 || slices.Max(others) > frameApart+step {
			t.Errorf("the other one was told after %v", others)
		}
	})
}

// Promise: a target without new results turns to no data by itself
func TestEvidenceGoesStaleByItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		h.Load([]uptime.Target{target(1)}, nil, []string{"eu"})
		h.Apply([]uptime.Result{result(1, "eu", time.Now(), uptime.StatusUp)})
		if got := h.Snapshot().Items[0].State; got != verdict.StateUp {
			t.Fatalf("is %s", got)
		}
		frameNow()
		sub, _, _, _ := h.Subscribe("target:1", nil)
		for range 3 { // neither missed nor unknown rows refresh it
			pass(8 * time.Second)
			h.Apply([]uptime.Result{result(1, "eu", time.Now(), uptime.StatusMissed), result(1, "eu", time.Now().Add(time.Millisecond), uptime.StatusUnknown)})
		}
		pass(3 * time.Second) // 10 + 10 + 5 s are over
		frameNow()
		d := decode(t, sub.Poll())
		if last := d.Ops[len(d.Ops)-1].Item; last.State != verdict.StateNoData {
			t.Fatalf("still %s: %s", last.State, last.Why)
		}
	})
}

// Promise: a reader that reconnects misses no change
func TestResumeAndResync(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		h.Load([]uptime.Target{target(1), target(2)}, nil, []string{"eu"})
		frameNow()
		_, at, _, _ := h.Subscribe("targets", nil)
		h.Apply([]uptime.Result{result(1, "eu", time.Now(), uptime.StatusUp)})
		frameNow()
		if _, _, recovered, _ := h.Subscribe("targets", &Position{Epoch: "another", Seq: at.Seq}); recovered {
			t.Fatal("recovered in another epoch")
		}
		if _, _, recovered, _ := h.Subscribe("targets", &Position{Epoch: at.Epoch, Seq: at.Seq + 100}); recovered {
			t.Fatal("recovered from the future")
		}
		sub, _, recovered, _ := h.Subscribe("targets", &at)
		if !recovered || decode(t, sub.Poll()).FromSeq != at.Seq {
			t.Fatal("did not resume")
		}
		quiet, quietAt, _, _ := h.Subscribe("target:2", nil)
		slow, _, _, _ := h.Subscribe("targets", nil)
		for range 40 {
			pass(10 * time.Second)
			h.Apply([]uptime.Result{result(1, "eu", time.Now(), uptime.StatusUp)})
			frameNow()
			if m := quiet.Poll(); m != nil {
				if d := decode(t, m); d.T != "delta" || d.Ops[0].Item.ID != 2 {
					t.Fatalf("target 2 hears of another: %s", m)
				}
			}
		}
		if got := decode(t, slow.Poll()); got.T != "resync" {
			t.Fatalf("a reader that fell out of the feed got %q", got.T)
		}
		h.Apply([]uptime.Result{result(2, "eu", time.Now(), uptime.StatusUp)})
		frameNow()
		if d := decode(t, quiet.Poll()); d.FromSeq < quietAt.Seq || len(d.Ops) != 1 {
			t.Fatalf("quiet reader got %+v", d)
		}
		for _, channel := range []string{"target:x", "target:", "target:007", "target:+7", "targets:7"} {
			if _, _, _, err := h.Subscribe(channel, nil); err == nil {
				t.Fatalf("channel %s accepted", channel)
			}
		}
	})
}

func TestRemovedStaysRemovedAndOrphansFindTheirTarget(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		h.Load([]uptime.Target{target(5)}, nil, []string{"eu"})
		h.Apply([]uptime.Result{result(6, "eu", time.Now(), uptime.StatusUp)}) // created on another node
		h.Upsert(target(6))
		if got := h.Snapshot().Items[1]; got.State != verdict.StateUp || len(got.Ticks) != 1 {
			t.Fatalf("orphan lost: %+v", got)
		}
		sub, _, _, _ := h.Subscribe("targets", nil)
		h.Remove(5)
		h.Upsert(target(5))
		h.Apply([]uptime.Result{result(5, "eu", time.Now(), uptime.StatusUp)})
		frameNow()
		d := decode(t, sub.Poll())
		for _, op := range d.Ops {
			if op.ID == 5.0 && op.Op != "remove" {
				t.Fatalf("target 5 came back: %+v", op)
			}
		}
		if len(h.Snapshot().Items) != 1 {
			t.Fatal("snapshot still has it")
		}
	})
}

func TestRegionsGoTheirOwnChannel(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		h.Load([]uptime.Target{target(1)}, nil, nil)
		if why := h.Snapshot().Items[0].Why; why != "No data: no region is checking it." {
			t.Fatal(why)
		}
		sub, _, _, _ := h.Subscribe("fleet", nil)
		h.SetRegions([]string{"eu"}, []Region{{Region: "eu", Probers: 1, Live: true}})
		h.SetRegions([]string{"eu"}, []Region{{Region: "eu", Probers: 1, Live: true}})
		if d := decode(t, sub.Poll()); len(d.Ops) != 1 || d.Ops[0].ID != "eu" {
			t.Fatalf("%+v", d)
		}
		if got := h.Snapshot(); got.Items[0].Why != "No data yet from eu." || len(got.Regions) != 1 {
			t.Fatalf("%+v", got)
		}
	})
}

func TestOnlyRegionsThatCheckTheTargetCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		now := time.Now()
		h.Load([]uptime.Target{target(1)}, []uptime.Result{result(1, "eu", now, uptime.StatusUp), result(1, "old", now, uptime.StatusDown)}, []string{"eu"})
		if got := h.Snapshot().Items[0]; got.State != verdict.StateUp || len(got.RegionStates) != 1 {
			t.Fatalf("a retired region still counts: %+v", got)
		}
		h.Apply([]uptime.Result{result(1, "us", now, uptime.StatusDown)}) // before the news that it is adopted
		h.SetRegions([]string{"eu", "us"}, nil)
		if got := h.Snapshot().Items[0]; got.State != verdict.StateDegraded || len(got.RegionStates) != 2 {
			t.Fatalf("an adopted region does not count: %+v", got)
		}
		h.SetRegions([]string{"us"}, nil)
		if got := h.Snapshot().Items[0]; got.State != verdict.StateDown || got.Why != "Down in 1 of 1 region: us no answer in time." {
			t.Fatalf("a region retired lately still counts: %+v", got)
		}
		edited := target(1)
		edited.Regions, edited.SpecVersion = []string{"eu"}, 2
		h.Upsert(edited)
		if got := h.Snapshot().Items[0]; got.State != verdict.StateNoData || len(got.RegionStates) != 0 {
			t.Fatalf("a region it was taken from still counts: %+v", got)
		}
	})
}

// Whoever keeps something of a target is told each time that it is gone, also of one that
// this node never met.
func TestRemovalsAreTold(t *testing.T) {
	t.Parallel()
	var h *Hub
	var told []int64
	h = New(Options{Removed: func(id int64) {
		if _, there := h.IDs()[id]; there { // takes the lock: it is free by then
			t.Errorf("%d is still there", id)
		}
		told = append(told, id)
	}})
	h.Upsert(uptime.Target{ID: 1, Active: true, Interval: time.Minute})
	h.Remove(1)
	h.Remove(1)
	h.Remove(7)
	if !slices.Equal(told, []int64{1, 1, 7}) {
		t.Errorf("told %v", told)
	}
}

// A region that is blind is not asked, and what it saw while it was counts for nothing after it
// is back either; what it measured is shown as it was.
func TestBlindRegionsAreNotAsked(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		now := time.Now()
		h.Load([]uptime.Target{target(1)}, []uptime.Result{result(1, "eu", now, uptime.StatusUp), result(1, "us", now, uptime.StatusDown)}, []string{"eu", "us"})
		state := func() string {
			item := h.Snapshot().Items[0]
			return fmt.Sprintf("%s %d", item.State, len(item.RegionStates))
		}
		window := verdict.Blindness{Region: "us", Span: verdict.Span{From: now.Add(-time.Second)}}
		for _, c := range []struct {
			windows []verdict.Blindness
			want    string
		}{
			{nil, "degraded 2"},
			{[]verdict.Blindness{window}, "up 2"},
			{[]verdict.Blindness{{Region: "us", Span: verdict.Span{From: window.From, To: now.Add(time.Second)}}}, "up 2"},
			{[]verdict.Blindness{{Region: "us", Span: verdict.Span{From: window.From, To: now}}}, "degraded 2"},
			{[]verdict.Blindness{window, {Region: "eu", Span: window.Span}}, "no_data 2"},
		} {
			h.SetBlind(c.windows)
			if got := state(); got != c.want {
				t.Errorf("%v: %s, want %s", c.windows, got, c.want)
			}
		}
		h.Upsert(target(2))
		h.Apply([]uptime.Result{result(2, "us", now, uptime.StatusDown)})
		if item := h.Snapshot().Items[1]; item.State != verdict.StateNoData {
			t.Errorf("a new target is %s", item.State)
		}
	})
}

// Ten thousand readers of everything cost one message: those that were told the same share it.
func TestReadersOfEverythingShareTheMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		h.Load([]uptime.Target{target(1), target(2)}, nil, []string{"eu"})
		frameNow()
		early, _, _, _ := h.Subscribe("targets", nil)
		h.Apply([]uptime.Result{result(1, "eu", time.Now(), uptime.StatusUp)})
		frameNow()
		one, _, _, _ := h.Subscribe("targets", nil)
		other, _, _, _ := h.Subscribe("targets", nil)
		h.Apply([]uptime.Result{result(2, "eu", time.Now(), uptime.StatusUp)})
		frameNow()
		a, b, all := one.Poll(), other.Poll(), early.Poll()
		if len(a) == 0 || &a[0] != &b[0] {
			t.Errorf("made twice: %s and %s", a, b)
		}
		made := 0
		for _, reader := range []*Subscription{one, other} {
			if form := reader.Shared().As(1, func(body []byte) []byte { made++; return bytes.ToUpper(body) }); !bytes.Equal(form, bytes.ToUpper(a)) || made != 1 {
				t.Errorf("made %d times: %s", made, form)
			}
		}
		if d := decode(t, all); len(d.Ops) != 2 {
			t.Errorf("who was told less was told %s", all)
		}
		h.Apply([]uptime.Result{result(1, "eu", time.Now().Add(time.Second), uptime.StatusUp)})
		frameNow()
		if d := decode(t, one.Poll()); len(d.Ops) != 1 || d.Ops[0].Item.ID != 1 {
			t.Errorf("the next one: %+v", d)
		}
	})
}

// Of a target that is down with what it depends on the page says so, as long as that is.
func TestWhatDependsOnAnotherSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		child := target(2)
		child.ParentID = 1
		h.Load([]uptime.Target{target(1), child}, nil, []string{"eu"})
		const says = "; it depends on t1, which is down."
		for _, c := range []struct {
			parent, child uptime.Status
			want          bool
		}{{uptime.StatusUp, uptime.StatusDown, false}, {uptime.StatusDown, uptime.StatusDown, true}, {uptime.StatusDown, uptime.StatusUp, false}, {uptime.StatusUp, uptime.StatusDown, false}} {
			pass(time.Second)
			h.Apply([]uptime.Result{result(1, "eu", time.Now(), c.parent), result(2, "eu", time.Now(), c.child)})
			pass(2 * time.Second)
			for _, item := range h.Snapshot().Items {
				if got := strings.HasSuffix(item.Why, says); got != (c.want && item.ID == 2) {
					t.Errorf("%+v: %s", c, item.Why)
				}
			}
		}
	})
}

// A brief snapshot has the newest ticks of every target, evenly, and one slot of each at least.
func TestBriefSnapshot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := run(t)
		one := target(1)
		one.Regions = []string{"eu"}
		h.Load([]uptime.Target{one, target(2)}, nil, []string{"eu", "us"})
		var newest time.Time
		for i := range 20 {
			newest = time.Now().Add(time.Duration(i) * 10 * time.Second)
			h.Apply([]uptime.Result{result(1, "eu", newest, uptime.StatusUp), result(2, "eu", newest, uptime.StatusUp), result(2, "us", newest, uptime.StatusUp)})
		}
		for ticks, want := range map[int][2]int{0: {1, 2}, 10: {5, 5}, 16: {8, 8}, 60: {20, 30}, 1000: {20, 40}} {
			items := h.Brief(ticks).Items
			for i, item := range items {
				if len(item.Ticks) != want[i] {
					t.Errorf("of %d ticks target %d has %d, want %d", ticks, item.ID, len(item.Ticks), want[i])
				}
				if last := item.Ticks[len(item.Ticks)-1].At; !last.Equal(newest) {
					t.Errorf("of %d ticks target %d has none of %v: %v", ticks, item.ID, newest, last)
				}
			}
		}
	})
}
