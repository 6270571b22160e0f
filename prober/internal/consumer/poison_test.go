package consumer

import (
	"context"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/uptime"
)

// TestPoison puts among the checks one whose visit kills the prober, one that is no
// check and one of ten megabytes. The neighbours are measured; the killer is a dead
// letter after three deaths on its own, and once the prober is mended a replay measures
// it and removes the letter.
//
// Promise: an entry that kills probers becomes a dead letter
func TestPoison(t *testing.T) {
	t.Parallel()
	const (
		neighbours, killer = 40, 50
		garbage, huge      = "60", "70"
	)
	l, redis, redisURL, path := realParts(t)
	publisher, fleet, letters := checkstream.NewPublisher(redis), checkstream.NewFleet(redis), checkstream.NewDeadLetters(redis)
	if err := publisher.EnsureGroups(t.Context(), []string{"eu"}); err != nil {
		t.Fatal(err)
	}
	clock, err := publisher.Clock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	chunk := checkstream.Chunk{Second: clock.Tick + 1, Seq: 1, Last: true}
	for id := int64(1); id <= killer; id++ {
		if id <= neighbours || id == killer {
			chunk.Checks = append(chunk.Checks, uptime.Check{
				TargetID: id, ScheduledAt: time.Unix(chunk.Second, 0).UTC(), Interval: 5 * time.Minute, SpecVersion: 1, Regions: []string{"eu"},
				Kind: uptime.KindHTTP, URL: l.URL() + "/slow/20ms", Timeout: 30 * time.Second,
			})
		}
	}
	if _, err := publisher.Publish(t.Context(), chunk); err != nil {
		t.Fatal(err)
	}
	second := strconv.FormatInt(chunk.Second*1000, 10)
	for _, poison := range []struct{ id, body string }{{garbage, "\x00\xff not a check"}, {huge, strings.Repeat("x", 10<<20)}} {
		if err := redis.Commands().Do(t.Context(), "XADD", "{pf}:checks", second+"-"+poison.id, "v", "1", "c", poison.body).Err(); err != nil {
			t.Fatal(err)
		}
	}

	deaths := 0
	for ; len(lettersOf(t, letters)) < 3; deaths++ {
		victim := exec.Command(os.Args[0])
		victim.Env = append(os.Environ(), victimRedis+"="+redisURL, victimFile+"="+path, victimBane+"="+strconv.Itoa(killer))
		victim.Stderr = os.Stderr
		if err := victim.Start(); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { ended <- victim.Wait() }()
		await(t, "a death, or the last letter", func() bool {
			if len(lettersOf(t, letters)) == 3 {
				_ = victim.Process.Kill()
				<-ended
				return true
			}
			select {
			case <-ended:
				return true
			default:
				return false
			}
		})
	}
	if deaths != maxDeliveries+1 {
		t.Errorf("it took %d lives to give the killer up, want %d", deaths, maxDeliveries+1)
	}

	ctx, stop := context.WithCancel(t.Context())
	mended := make(chan error, 1)
	go func() { mended <- runProber(ctx, redisURL, path, "victim", 0) }()
	await(t, "every entry to be settled", func() bool {
		groups, err := fleet.Groups(t.Context())
		return err == nil && len(groups) == 1 && groups[0].Pending == 0
	})
	found := lettersOf(t, letters)
	for entry, want := range map[string]string{second + "-" + strconv.Itoa(killer): "too many deliveries", second + "-" + garbage: "malformed", second + "-" + huge: "malformed"} {
		if letter := found[entry]; !strings.Contains(letter.Reason, want) || (letter.Check != nil) != (want == "too many deliveries") || letter.Raw == "" {
			t.Errorf("letter of %s: %q, raw of %d bytes", entry, letter.Reason, len(letter.Raw))
		}
	}
	killed := "/" + second
	for slot, statuses := range rowsIn(t, path) {
		want := "up"
		if slot == strconv.Itoa(killer)+killed {
			want = "unknown"
		}
		for _, status := range statuses {
			if status != want {
				t.Errorf("%s: %v", slot, statuses)
			}
		}
	}
	if n := len(rowsIn(t, path)); n != neighbours+1 {
		t.Errorf("%d slots have rows", n)
	}

	if n, err := letters.Ask(t.Context(), []string{found[second+"-"+strconv.Itoa(killer)].ID}); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	await(t, "the replay", func() bool { return len(lettersOf(t, letters)) == 2 })
	if rows := rowsIn(t, path)[strconv.Itoa(killer)+killed]; rows[len(rows)-1] != "up" {
		t.Errorf("rows of the killer: %v", rows)
	}
	stop()
	if err := <-mended; err != nil {
		t.Error(err)
	}
}

// lettersOf are by their entry's id.
func lettersOf(t *testing.T, letters *checkstream.DeadLetters) map[string]checkstream.Letter {
	t.Helper()
	list, err := letters.List(t.Context(), "", 100)
	if err != nil {
		t.Fatal(err)
	}
	byEntry := map[string]checkstream.Letter{}
	for _, letter := range list {
		byEntry[letter.EntryID] = letter
	}
	return byEntry
}
