package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/service"
)

// deadCommand exits with 0 when everything asked for was done, 1 when a named
// letter was not there or could not be replayed, 75 when Redis does not answer and 78
// when it cannot tell what is wanted. Nothing is changed without ids or --all.
type deadCommand struct {
	Ls     deadList   `cmd:"" help:"List the checks and rows that were given up, newest last."`
	Show   deadShow   `cmd:"" help:"Show everything about one."`
	Replay deadReplay `cmd:"" help:"Have the probers of their regions run them again, each alone."`
	Purge  deadPurge  `cmd:"" help:"Remove them for good. The rows of their slots stay."`
}

// dead is what these commands work with.
type dead struct {
	console
	redis   *checkstream.Redis
	letters *checkstream.DeadLetters
	fleet   *checkstream.Fleet
}

func (f storeFlags) dead(to console) (dead, error) {
	stores, err := f.resolve()
	if err == nil && stores.RedisURL == "" {
		err = fmt.Errorf("no Redis is known: set REDIS_URL, or name the folder of a running 'probefleet up' with --dir (none runs in %s)", f.Dir)
	}
	if err != nil {
		return dead{}, service.Exit(service.ExitConfig, err)
	}
	r, err := checkstream.Open(stores.RedisURL)
	if err != nil {
		return dead{}, service.Exit(service.ExitConfig, err)
	}
	return dead{to, r, checkstream.NewDeadLetters(r), checkstream.NewFleet(r)}, nil
}

// unreachable gives an error of Redis its exit code and says what to do.
func unreachable(err error) error {
	return service.Exit(service.ExitDependency, fmt.Errorf("%w\ncheck that Redis runs and that REDIS_URL, or --dir, names it; `probefleet doctor` says more", err))
}

func (d dead) say(format string, args ...any) { _, _ = fmt.Fprintf(d.Out, format+"\n", args...) }

const deadPage = 200

// walk gives every letter that want keeps, oldest first, to use.
func (d dead) walk(ctx context.Context, want func(checkstream.Letter) bool, use func(checkstream.Letter)) error {
	for after := ""; ; {
		page, err := d.letters.List(ctx, after, deadPage)
		if err != nil {
			return unreachable(err)
		}
		for _, l := range page {
			if after = l.ID; want(l) {
				use(l)
			}
		}
		if len(page) < deadPage {
			return nil
		}
	}
}

type deadList struct {
	storeFlags `embed:""`
	deadFilter `embed:""`
	Limit      int  `default:"100" help:"At most so many, the newest."`
	JSON       bool `name:"json" help:"Print JSON."`
}

func (c *deadList) Run(ctx context.Context, to console) error {
	if c.Limit < 1 {
		return service.Exit(service.ExitConfig, errors.New("--limit: want 1 or more"))
	}
	d, err := c.dead(to)
	if err != nil {
		return err
	}
	defer d.redis.Close()
	var letters []checkstream.Letter
	matching, replayable := 0, 0
	err = d.walk(ctx, c.keeps, func(l checkstream.Letter) {
		matching++
		if l.Replayable() {
			replayable++
		}
		if letters = append(letters, l); len(letters) > c.Limit {
			letters = slices.Delete(letters, 0, 1)
		}
	})
	if err != nil {
		return err
	}
	totals, err := d.letters.Totals(ctx)
	if err != nil {
		return unreachable(err)
	}
	if c.JSON {
		return printJSON(to.Out, listJSON{Items: toJSON(letters), Matching: matching, Dropped: totals.Dropped, Replayed: totals.Replayed, Purged: totals.Purged})
	}
	if matching == 0 {
		d.say("No dead letters.")
	} else {
		printLetters(to.Out, letters)
		d.say("\n%s, %d can be replayed.%s", count(matching), replayable, hidden(matching-len(letters)))
	}
	if totals.Dropped > 0 {
		d.say("%d older ones were dropped: at most %d letters (%d MiB) are kept.", totals.Dropped, checkstream.MaxLetters, checkstream.MaxLetterBytes>>20)
	}
	return nil
}

func hidden(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" %d older ones are not shown: raise --limit.", n)
}

type deadShow struct {
	storeFlags `embed:""`
	ID         string `arg:"" help:"As in the list."`
	JSON       bool   `name:"json" help:"Print JSON."`
}

func (c *deadShow) Run(ctx context.Context, to console) error {
	d, err := c.dead(to)
	if err != nil {
		return err
	}
	defer d.redis.Close()
	letter, err := d.letters.Get(ctx, c.ID)
	switch {
	case errors.Is(err, checkstream.ErrNoLetter):
		return fmt.Errorf("there is no dead letter %s: `probefleet dead-letters ls` shows those there are", plain(c.ID))
	case err != nil:
		return unreachable(err)
	case c.JSON:
		return printJSON(to.Out, toJSON([]checkstream.Letter{letter})[0])
	}
	printLetter(to.Out, letter)
	return nil
}

// apply does something to letters, in parts, and says how far it is when they are many.
func (d dead) apply(ctx context.Context, letters []checkstream.Letter, act func(context.Context, []string) (int, error)) (n int, err error) {
	for part := range slices.Chunk(letters, 500) {
		ids := make([]string, len(part))
		for i, l := range part {
			ids[i] = l.ID
		}
		some, err := act(ctx, ids)
		if n += some; err != nil {
			return n, unreachable(fmt.Errorf("after %d of %d: %w", n, len(letters), err))
		}
		if len(letters) > len(part) {
			_, _ = fmt.Fprintf(d.Err, "%d of %d\n", n, len(letters))
		}
	}
	return n, nil
}

type deadReplay struct {
	deadChoice `embed:""`
}

func (c *deadReplay) Run(ctx context.Context, to console) error {
	d, err := c.dead(to)
	if err != nil {
		return err
	}
	defer d.redis.Close()
	letters, undone, err := c.choose(ctx, d)
	if err != nil {
		return err
	}
	unreadable := 0
	letters = slices.DeleteFunc(letters, func(l checkstream.Letter) bool {
		if l.Replayable() {
			return false
		}
		_, _ = fmt.Fprintf(to.Err, "%s: this version cannot read its check; `show` has its fields: upgrade, or purge it\n", l.ID)
		unreadable++
		return true
	})
	if !c.All { // of all, those that can be
		undone += unreadable
	}
	d.warnOfSilentRegions(ctx, letters)
	if c.DryRun {
		return d.pretend("replay", letters, undone)
	}
	n, err := d.apply(ctx, letters, d.letters.Ask)
	if err != nil {
		return err
	}
	d.say("%s asked to be run again; `probefleet dead-letters ls` shows how far they are, and no longer those that are done.", count(n))
	return unless(undone + len(letters) - n)
}

// warnOfSilentRegions says where nobody is there to replay anything.
func (d dead) warnOfSilentRegions(ctx context.Context, letters []checkstream.Letter) {
	probers, err := d.fleet.Probers(ctx)
	if err != nil {
		return // what follows meets the same, and says so
	}
	var silent []string
	for _, l := range letters {
		live := slices.ContainsFunc(probers, func(h checkstream.Heartbeat) bool { return h.Region == l.Region && h.Working() })
		if !live && !slices.Contains(silent, l.Region) {
			silent = append(silent, l.Region)
			_, _ = fmt.Fprintf(d.Err, "no prober of region %s takes checks now: its letters wait until one does\n", plain(l.Region))
		}
	}
}

type deadPurge struct {
	deadChoice `embed:""`
}

func (c *deadPurge) Run(ctx context.Context, to console) error {
	d, err := c.dead(to)
	if err != nil {
		return err
	}
	defer d.redis.Close()
	letters, undone, err := c.choose(ctx, d)
	if err != nil {
		return err
	}
	if c.DryRun {
		return d.pretend("purge", letters, undone)
	}
	n, err := d.apply(ctx, letters, d.letters.Purge)
	if err != nil {
		return err
	}
	d.say("%s removed.", count(n))
	if c.All {
		return nil // those gone meanwhile are as gone as was wanted
	}
	return unless(undone + len(letters) - n)
}

func (d dead) pretend(verb string, letters []checkstream.Letter, undone int) error {
	if len(letters) > 0 {
		printLetters(d.Out, letters)
		d.say("")
	}
	d.say("Would %s %s. Nothing was changed.", verb, count(len(letters)))
	return unless(undone)
}

// unless fails when something was not done.
func unless(undone int) error {
	if undone == 0 {
		return nil
	}
	return fmt.Errorf("%s not done", count(undone))
}

func count(letters int) string {
	if letters == 1 {
		return "1 letter"
	}
	return fmt.Sprintf("%d letters", letters)
}
