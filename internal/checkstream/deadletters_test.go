package checkstream

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/redis/go-redis/v9"

	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// delivered publishes checks 1..n and gives them as a prober of eu has them.
func delivered(t *testing.T, r *Redis, n int64) (*Consumer, []Entry) {
	t.Helper()
	p := NewPublisher(r)
	must(t, p.EnsureGroups(t.Context(), []string{"eu"}))
	second := redisNow(t, r)
	setTick(t, r, second-1)
	publish(t, p, second, checks(second, 1, n))
	c, _ := consumer(r, "eu", "p1")
	entries := readAll(t, c)
	if int64(len(entries)) != n {
		t.Fatalf("%d of %d", len(entries), n)
	}
	return c, entries
}

// buried makes dead letters of checks 1..n and gives their ids.
func buried(t *testing.T, r *Redis, n int64) (*Consumer, *DeadLetters, []string) {
	t.Helper()
	c, entries := delivered(t, r, n)
	for _, e := range entries {
		if moved, err := c.Dead(t.Context(), e, "killer"); err != nil || !moved {
			t.Fatal(moved, err)
		}
	}
	d := NewDeadLetters(r)
	return c, d, letterIDs(t, d)
}

func letterIDs(t *testing.T, d *DeadLetters) []string {
	t.Helper()
	var ids []string
	for after := ""; ; after = ids[len(ids)-1] {
		letters, err := d.List(t.Context(), after, 30)
		must(t, err)
		if len(letters) == 0 {
			return ids
		}
		for _, l := range letters {
			ids = append(ids, l.ID)
		}
	}
}

func TestLetterKeepsWhatItWas(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx, d := t.Context(), NewDeadLetters(r)
		c, entries := delivered(t, r, 3)
		for i, values := range [][]any{
			{"v", "9", "c", "from\x1b[2J\xff tomorrow", "a name\n=", "x"},
			{"v", "1", "c", "1 60000 3 5000 http eu https://a/" + strings.Repeat("x", 10<<20)},
			manyFields(20_000),
		} {
			must(t, r.commands.XAdd(ctx, &redis.XAddArgs{Stream: keyChecks, ID: entryID(entries[0].Second+1, int64(i+1)), Values: values}).Err())
		}
		entries = append(entries, readAll(t, c)...)
		row := uptime.Result{
			TargetID: 2, Region: "eu", ScheduledAt: entries[1].Check.ScheduledAt, CheckedAt: entries[1].Check.ScheduledAt.Add(time.Second), Status: uptime.StatusDown,
			Failure: uptime.FailureTimeout, Message: "äöü", Address: netip.MustParseAddr("192.0.2.7"), Attempt: 2, Prober: "p1", IngestedAt: time.UnixMicro(1_800_000_000_000_001).UTC(),
		}
		strange := row
		strange.CertNotAfter = time.Unix(1<<40, 0)
		for i, e := range entries {
			e.Deliveries = 3
			var moved bool
			var err error
			switch i {
			case 1:
				moved, err = c.DeadRow(ctx, e, row, "refused: "+strings.Repeat("ä", 2000))
			case 2:
				moved, err = c.DeadRow(ctx, e, strange, "refused: "+strings.Repeat("x", 2000))
			default:
				moved, err = c.Dead(ctx, e, "killer")
			}
			if err != nil || !moved {
				t.Fatal(i, moved, err)
			}
		}
		letters, err := d.List(ctx, "", 100)
		if err != nil || len(letters) != 6 {
			t.Fatal(len(letters), err)
		}
		for i, l := range letters {
			if l.EntryID != entries[i].ID || l.TargetID != int64(i%3+1) || l.Region != "eu" || l.Prober != "p1" || l.Deliveries != 3 || l.Replay != ReplayNone ||
				time.Since(l.At).Abs() > time.Minute || l.ScheduledAt.Unix() != entries[i].Second || len(l.Reason) > maxReason {
				t.Errorf("%d: %+v", i, l)
			}
		}
		for i, l := range letters[:3] {
			if diff := cmp.Diff(&entries[i].Check, l.Check); diff != "" || l.Cut || !strings.Contains(l.Raw, `c="`) || !strings.Contains(l.Raw, ` v="1"`) {
				t.Errorf("%d: %s, raw %s", i, diff, l.Raw)
			}
		}
		if diff := cmp.Diff(&row, letters[1].Row, cmpopts.EquateComparable(netip.Addr{})); diff != "" || !strings.HasSuffix(letters[1].Reason, "ää") {
			t.Errorf("%s %s", diff, letters[1].Reason)
		}
		if letters[2].Row != nil || !strings.Contains(letters[2].Reason, "its row cannot be written") {
			t.Errorf("%+v", letters[2])
		}
		if l := letters[3]; l.Check != nil || l.Replayable() || l.Cut || l.Raw != `"a name\n="="x" c="from\x1b[2J\xff tomorrow" v="9"` {
			t.Errorf("%+v", l)
		}
		for _, l := range letters[4:] { // a part of a check is no check
			if !l.Cut || l.Replayable() || len(l.Raw) > 2*maxField {
				t.Errorf("%d bytes kept of a large one: %.200v", len(l.Raw), l)
			}
		}
		if kept, err := c.KeepRow(ctx, Entry{ID: entries[1].ID, TargetID: row.TargetID, Second: entries[1].Second}, row, "refused from the spool"); err != nil || !kept {
			t.Error("a row refused after its entry was settled is not kept", kept, err)
		}
		if moved, err := c.DeadRow(ctx, entries[1], row, "again"); err != nil || moved {
			t.Error("a settled entry is buried again", moved, err)
		}
		one, err := d.Get(ctx, letters[1].ID)
		if diff := cmp.Diff(letters[1], one, cmpopts.EquateComparable(netip.Addr{})); err != nil || diff != "" {
			t.Error(diff, err)
		}
	})
}

// A page of the API has 1,000 at most, and one more says that it is not the last.
func TestListGivesOneMoreThanTheLargestPage(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		pipe := r.commands.Pipeline()
		for range 1002 {
			pipe.XAdd(t.Context(), &redis.XAddArgs{Stream: keyDead, Values: []any{"region", "eu", "id", "1000-1"}})
		}
		if _, err := pipe.Exec(t.Context()); err != nil {
			t.Fatal(err)
		}
		letters, err := NewDeadLetters(r).List(t.Context(), "", 1001)
		if err != nil || len(letters) != 1001 {
			t.Fatal(len(letters), err)
		}
	})
}

func manyFields(n int) []any {
	values := make([]any, 0, 2*n)
	for i := range n {
		values = append(values, fmt.Sprint("f", i), "x")
	}
	return values
}

func TestLettersAreBounded(t *testing.T) {
	t.Parallel()
	for name, limit := range map[string]func(*Redis){
		"by number": func(r *Redis) { r.letters.count = 40 },
		"by bytes":  func(r *Redis) { r.letters.bytes = 40 * 140 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onBoth(t, func(t *testing.T, r *Redis) {
				ctx := t.Context()
				limit(r)
				c, entries := delivered(t, r, 100)
				d := NewDeadLetters(r)
				bury := func(entries []Entry) {
					for _, e := range entries {
						_, err := c.Dead(ctx, e, "killer")
						must(t, err)
					}
				}
				bury(entries[:30])
				if n, err := d.Ask(ctx, letterIDs(t, d)); err != nil || n != 30 {
					t.Fatal(n, err)
				}
				bury(entries[30:])
				letters, err := d.List(ctx, "", 1000)
				must(t, err)
				totals, err := d.Totals(ctx)
				must(t, err)
				left := int64(len(letters))
				if left < 30 || left > 50 || totals != (LetterTotals{Dropped: 100 - left}) || letters[left-1].TargetID != 100 || letters[0].TargetID != 101-left {
					t.Fatalf("%d left from target %d on, %+v", left, letters[0].TargetID, totals)
				}
				if fields, err := r.commands.HLen(ctx, keyLetters).Result(); err != nil || fields != 2 {
					t.Fatalf("requests of dropped letters were left: %d fields, %v", fields, err)
				}
			})
		})
	}
}

// A letter must also get through when Redis refuses to grow: an entry that cannot be
// settled then would kill one prober after the other.
func TestLetterIsKeptWithFullMemory(t *testing.T) {
	t.Parallel()
	r := open(t, testbackend.RedisServer(t).URL())
	c, entries := delivered(t, r, 2)
	must(t, r.commands.ConfigSet(t.Context(), "maxmemory", "1").Err())
	if err := r.commands.Set(t.Context(), "x", "y", 0).Err(); err == nil || !strings.HasPrefix(err.Error(), "OOM") {
		t.Fatalf("the test has lost its point: %v", err)
	}
	if moved, err := c.Dead(t.Context(), entries[0], "killer"); err != nil || !moved {
		t.Fatal(moved, err)
	}
	if n, err := NewDeadLetters(r).Count(t.Context()); err != nil || n != 1 || pending(t, r, "eu") != 1 {
		t.Fatal(n, err)
	}
}

func TestDeletedTargetsHaveNoLetters(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx := t.Context()
		c, d, ids := buried(t, r, 250)
		_, err := d.Ask(ctx, ids)
		must(t, err)
		must(t, r.Tombstone(ctx, 7, 120, 250, 9999))
		if n, err := d.Count(ctx); err != nil || n != 247 {
			t.Fatal(n, err)
		}
		must(t, r.commands.HSet(ctx, keyTombstones, "8", redisNow(t, r)*1000).Err()) // asked for in the same moment
		replayed, err := c.Replays(ctx, 1000)
		if err != nil || len(replayed) != letterPage {
			t.Fatal(len(replayed), err)
		}
		if _, err := d.Get(ctx, ids[7]); !errors.Is(err, ErrNoLetter) {
			t.Error(err)
		}
		p := NewPublisher(r)
		second := lastTick(t, r) + 1
		publish(t, p, second, checks(second, 7, 9))
		for _, e := range readAll(t, c) {
			if moved, err := c.Dead(ctx, e, "killer"); err != nil || !moved {
				t.Fatal(moved, err)
			}
		}
		if n, err := d.Count(ctx); err != nil || n != 247 || pending(t, r, "eu") != 0 { // one less, one more
			t.Fatal(n, err)
		}
	})
}

// lastTick is the last published second.
func lastTick(t *testing.T, r *Redis) int64 {
	t.Helper()
	tick, err := NewFleet(r).LastTick(t.Context())
	must(t, err)
	return tick.Unix()
}

func TestStrangeLetterIDs(t *testing.T) {
	t.Parallel()
	onBoth(t, func(t *testing.T, r *Redis) {
		ctx := t.Context()
		_, d, ids := buried(t, r, 1)
		for _, id := range []string{"x", "-", "+", "5", "1-2-3", "-1-1", "1-", "99999999999999999999-1"} {
			if _, err := d.Get(ctx, id); !errors.Is(err, ErrNoLetter) {
				t.Errorf("get %q: %v", id, err)
			}
			if _, err := d.List(ctx, id, 1); err == nil {
				t.Errorf("list after %q", id)
			}
			for name, act := range map[string]func() (int, error){
				"ask":   func() (int, error) { return d.Ask(ctx, []string{ids[0], id}) },
				"purge": func() (int, error) { return d.Purge(ctx, []string{ids[0], id}) },
			} {
				if n, err := act(); err == nil || n != 0 {
					t.Errorf("%s %q: %d %v", name, id, n, err)
				}
			}
		}
		if l, err := d.Get(ctx, ids[0]); err != nil || l.Replay != ReplayNone {
			t.Fatal(l, err)
		}
		if n, err := d.Purge(ctx, []string{"1-1", ids[0], ids[0]}); err != nil || n != 1 {
			t.Fatal(n, err)
		}
	})
}

func FuzzDecodeLetter(f *testing.F) {
	body, _, _ := encodeCheck(check(1_700_000_000, 42))
	row, _ := encodeRow(uptime.Result{TargetID: 42, Status: uptime.StatusDown})
	f.Add("1800000000000-0", "1700000000000-42", body, "3", row, "1800000000000 1 1800000060000 eu")
	f.Add("0-0", "-", "\xff", "", "{", "a b c d")
	f.Add("", "1-1", "", "-", `{"Status":"?"}`, "1 99999999999999999999 1 eu")
	f.Fuzz(func(t *testing.T, id, entry, body, deliveries, row, request string) {
		l := newLetter(redis.XMessage{ID: id, Values: map[string]any{"region": "eu", "id": entry, "deliveries": deliveries, "row": row, "f:v": "1", "f:c": body, "f:" + id: row}})
		l.request(request, time.UnixMilli(1_800_000_000_000))
		if l.Check != nil && (l.Check.TargetID != l.TargetID || !l.Check.ScheduledAt.Equal(l.ScheduledAt)) {
			t.Fatalf("%+v", l)
		}
		for _, c := range l.Raw {
			if !strconv.IsPrint(c) {
				t.Fatalf("%q cannot be printed safely", l.Raw)
			}
		}
	})
}
