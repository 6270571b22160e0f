package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/testbackend"
	"github.com/probefleet/probefleet/internal/uptime"
)

// deadLab is a Redis with dead letters, and the command that looks after them.
type deadLab struct {
	t       *testing.T
	url     string
	redis   *checkstream.Redis
	letters *checkstream.DeadLetters
	ids     []string
}

// newDeadLab makes letters of targets 1 and 2 in eu and us, one of them with the row
// that was refused, and one in eu that nobody can read, of target 3.
func newDeadLab(t *testing.T) *deadLab {
	t.Helper()
	_, url := testbackend.Miniredis(t)
	r, err := checkstream.Open(url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = r.Close() })
	lab := &deadLab{t: t, url: url, redis: r, letters: checkstream.NewDeadLetters(r)}
	ctx, p := t.Context(), checkstream.NewPublisher(r)
	lab.must(p.EnsureGroups(ctx, []string{"eu", "us"}))
	clock, err := p.Clock(ctx)
	lab.must(err)
	slot := time.Unix(clock.Tick+1, 0)
	check := func(id int64) uptime.Check {
		return uptime.Check{TargetID: id, ScheduledAt: slot, Interval: time.Minute, Timeout: time.Second, Kind: uptime.KindHTTP, URL: fmt.Sprintf("https://t%d.example/", id)}
	}
	_, err = p.Publish(ctx, checkstream.Chunk{Second: slot.Unix(), Seq: 1, Checks: []uptime.Check{check(1), check(2)}, Last: true})
	lab.must(err)
	lab.must(r.Commands().Do(ctx, "XADD", "{pf}:checks", fmt.Sprintf("%d-3", slot.UnixMilli()), "v", "9", "c", "\x1b[2Jgone").Err())
	for _, region := range []string{"eu", "us"} {
		c := checkstream.NewConsumer(r, region, "p1")
		entries, err := c.Read(ctx, 10, 0)
		lab.must(err)
		for _, e := range entries {
			switch {
			case region == "eu" && e.TargetID == 2:
				row := uptime.Result{TargetID: 2, Status: uptime.StatusDown, Failure: uptime.FailureTimeout, Message: "took\x1b[1mlong", ScheduledAt: slot}
				_, err = c.DeadRow(ctx, e, row, "the store refused it:\nbad\x07 value")
			case e.TargetID == 3 && region == "us":
				err = c.Ack(ctx, []string{e.ID})
			default:
				_, err = c.Dead(ctx, e, "it ended three probers")
			}
			lab.must(err)
		}
	}
	list, err := lab.letters.List(ctx, "", 100)
	lab.must(err)
	for _, l := range list {
		lab.ids = append(lab.ids, l.ID)
	}
	if len(lab.ids) != 5 {
		t.Fatalf("%d letters", len(lab.ids))
	}
	return lab
}

func (l *deadLab) must(err error) {
	l.t.Helper()
	if err != nil {
		l.t.Fatal(err)
	}
}

// run gives what the command wrote; it must exit with want.
func (l *deadLab) run(want int, args ...string) (out, errOut string) {
	l.t.Helper()
	var o, e strings.Builder
	args = slices.Concat([]string{"dead-letters"}, args, []string{"--redis-url", l.url, "--dir", l.t.TempDir()})
	if code := run(args, &o, &e); code != want {
		l.t.Fatalf("%v: exit %d, want %d\n%s%s", args, code, want, o.String(), e.String())
	}
	for _, text := range []string{o.String(), e.String()} {
		if strings.ContainsAny(text, "\x1b\x07") {
			l.t.Fatalf("%v steers the terminal: %q", args, text)
		}
	}
	return o.String(), e.String()
}

func (l *deadLab) left() []string {
	l.t.Helper()
	list, err := l.letters.List(l.t.Context(), "", 100)
	l.must(err)
	var left []string
	for _, letter := range list {
		text := fmt.Sprint(letter.Region, letter.TargetID)
		if letter.Replay != checkstream.ReplayNone {
			text += " " + string(letter.Replay)
		}
		left = append(left, text)
	}
	return left
}

func contains(t *testing.T, text string, patterns ...string) {
	t.Helper()
	for _, pattern := range patterns {
		if !regexp.MustCompile(pattern).MatchString(text) {
			t.Errorf("no %q in:\n%s", pattern, text)
		}
	}
}

func TestDeadLettersAreShown(t *testing.T) {
	t.Parallel()
	lab := newDeadLab(t)
	out, _ := lab.run(0, "ls")
	contains(t, out, `(?m)^ID +WHEN +REGION +TARGET +SLOT +REASON +DELIVERIES +REPLAY$`, `(?m)^`+lab.ids[0]+` +20.*Z +eu +1 +20.*Z +it ended three probers +1 +-$`,
		`"the store refused it:\\nbad\\a value"`, `5 letters, 4 can be replayed\.\n$`)
	out, _ = lab.run(0, "ls", "--region", "us", "--limit", "1")
	contains(t, out, `us +2 `, `2 letters, 2 can be replayed. 1 older ones are not shown: raise --limit`)
	out, _ = lab.run(0, "ls", "--region", "mars")
	contains(t, out, `^No dead letters.\n$`)
	lab.must(lab.redis.Commands().HSet(t.Context(), "{pf}:dead:meta", "dropped", "7").Err())
	out, _ = lab.run(0, "ls", "--target", "9")
	contains(t, out, `7 older ones were dropped: at most 10000 letters \(64 MiB\) are kept`)

	var list listJSON
	out, _ = lab.run(0, "ls", "--json", "--target", "2")
	lab.must(json.Unmarshal([]byte(out), &list))
	if len(list.Items) != 2 || list.Matching != 2 || list.Dropped != 7 || list.Items[0].Row.Failure != uptime.FailureTimeout || list.Items[0].URL != "https://t2.example/" {
		t.Errorf("%+v", list)
	}

	out, _ = lab.run(0, "show", lab.ids[1])
	contains(t, out, `(?m)^check +http https://t2.example/$`, `(?m)^row +down, refused by the store$`, `message +"took\\x1b\[1mlong"`, `(?m)^raw +c=".*https://t2.example/" v="1" x="\d+"$`)
	out, _ = lab.run(0, "show", lab.ids[2])
	contains(t, out, `check +this version cannot read it`, `raw +c="\\x1b\[2Jgone" v="9"`)
	var one letterJSON
	out, _ = lab.run(0, "show", "--json", lab.ids[2])
	lab.must(json.Unmarshal([]byte(out), &one))
	if one.ID != lab.ids[2] || one.Replayable || one.TargetID != 3 {
		t.Errorf("%+v", one)
	}
	for _, id := range []string{"1-1", "x\x1b[2J"} {
		_, errOut := lab.run(service.ExitFailure, "show", id)
		contains(t, errOut, `there is no dead letter`, `dead-letters ls`)
	}
}

func TestNothingIsChangedWithoutSayingWhat(t *testing.T) {
	t.Parallel()
	lab := newDeadLab(t)
	before := lab.left()
	for _, verb := range []string{"replay", "purge"} {
		for _, args := range [][]string{{}, {"--region", "eu"}, {"--target", "1"}, {lab.ids[0], "--all"}, {lab.ids[0], "--region", "eu"}} {
			_, errOut := lab.run(service.ExitConfig, append([]string{verb}, args...)...)
			contains(t, errOut, `--all|not both`)
		}
		out, _ := lab.run(0, verb, "--dry-run", "--all", "--region", "us")
		contains(t, out, lab.ids[3]+` .* us +1`, `Would `+verb+` 2 letters. Nothing was changed.`)
		out, errOut := lab.run(service.ExitFailure, verb, "--dry-run", lab.ids[0], "1-1")
		contains(t, out, `Would `+verb+` 1 letter\.`)
		contains(t, errOut, `1-1: there is no such letter`, `1 letter not done`)
	}
	if left := lab.left(); !slices.Equal(left, before) {
		t.Fatalf("%v became %v", before, left)
	}
}

func TestDeadLettersAreReplayed(t *testing.T) {
	t.Parallel()
	lab := newDeadLab(t)
	prober := checkstream.NewConsumer(lab.redis, "eu", "p1")
	_, err := prober.Beat(t.Context(), checkstream.Heartbeat{})
	lab.must(err)
	out, errOut := lab.run(service.ExitFailure, "replay", lab.ids[0], lab.ids[0], lab.ids[2], "1-1")
	contains(t, out, `^1 letter asked`)
	contains(t, errOut, lab.ids[2]+`: this version cannot read`, `2 letters not done`)
	if strings.Contains(errOut, "no prober") {
		t.Errorf("eu has one: %s", errOut)
	}
	out, errOut = lab.run(0, "replay", "--all")
	contains(t, out, `^4 letters asked`)
	contains(t, errOut, `no prober of region us takes checks now`)
	if left, want := lab.left(), []string{"eu1 asked", "eu2 asked", "eu3", "us1 asked", "us2 asked"}; !slices.Equal(left, want) {
		t.Fatalf("%v, want %v", left, want)
	}
	replays, err := prober.Replays(t.Context(), 10)
	if err != nil || len(replays) != 2 {
		t.Fatal(replays, err)
	}
	lab.must(prober.Replayed(t.Context(), replays[0]))
	out, _ = lab.run(0, "ls")
	contains(t, out, `running, try 1`, `asked\n`, `4 letters`)
	out, _ = lab.run(0, "show", replays[1].ID)
	contains(t, out, `asked at +20`)
}

func TestDeadLettersArePurged(t *testing.T) {
	t.Parallel()
	lab := newDeadLab(t)
	out, _ := lab.run(0, "purge", lab.ids[1], lab.ids[2])
	contains(t, out, `^2 letters removed`)
	_, errOut := lab.run(service.ExitFailure, "purge", lab.ids[1])
	contains(t, errOut, `no such letter`)
	lab.run(0, "purge", "--all", "--region", "us", "--target", "2")
	if left := lab.left(); !slices.Equal(left, []string{"eu1", "us1"}) {
		t.Fatal(left)
	}
	lab.run(0, "purge", "--all")
	out, _ = lab.run(0, "purge", "--all")
	contains(t, out, `^0 letters removed`)
}

// Many are worked on in parts, and how far it is goes beside the result.
func TestManyDeadLetters(t *testing.T) {
	t.Parallel()
	lab := newDeadLab(t)
	ctx := t.Context()
	for i := range 1_100 {
		lab.must(lab.redis.Commands().Do(ctx, "XADD", "{pf}:dead", "*", "region", "sa", "id", fmt.Sprint(i, "-5"), "row", "{}").Err())
	}
	out, errOut := lab.run(0, "replay", "--all", "--region", "sa")
	contains(t, out, `^1100 letters asked`)
	contains(t, errOut, `500 of 1100\n1000 of 1100\n1100 of 1100`)
	out, _ = lab.run(0, "purge", "--all", "--region", "sa")
	contains(t, out, `^1100 letters removed`)
	if n, err := lab.letters.Count(ctx); err != nil || n != 5 {
		t.Fatal(n, err)
	}
}

func TestDeadLettersWithoutRedis(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		url  string
		want int
		says string
	}{
		{"redis://127.0.0.1:1", service.ExitDependency, `check that Redis runs and that REDIS_URL`},
		{"nonsense", service.ExitConfig, `redis://user:password@host`},
	} {
		for _, args := range [][]string{{"ls"}, {"show", "1-1"}, {"replay", "1-1"}, {"purge", "--all"}} {
			lab := &deadLab{t: t, url: c.url}
			_, errOut := lab.run(c.want, args...)
			contains(t, errOut, c.says)
		}
	}
}

func TestPlainIsHarmless(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a b ä": "a b ä", "": "", "a\nb": `"a\nb"`, "\x1b[2J": `"\x1b[2J"`, "a\u202eb": `"a\u202eb"`, "\xff": `"\xff"`, "a\u009bb": `"a\u009bb"`, "tab\t": `"tab\t"`,
	} {
		if got := plain(text); got != want {
			t.Errorf("%q gives %q", text, got)
		}
	}
	if got := short(strings.Repeat("ä", 80)); len([]rune(got)) != 60 || !errors.Is(unless(0), nil) {
		t.Errorf("%q", got)
	}
}
