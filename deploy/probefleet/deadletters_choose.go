package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/probefleet/probefleet/internal/checkstream"
	"github.com/probefleet/probefleet/internal/service"
)

// deadFilter narrows --all and ls.
type deadFilter struct {
	Region string `help:"Only those of this region."`
	Target int64  `help:"Only those of the target with this id."`
}

func (f deadFilter) keeps(l checkstream.Letter) bool {
	return (f.Region == "" || l.Region == f.Region) && (f.Target == 0 || l.TargetID == f.Target)
}

// deadChoice names letters: by id, or all that the filter keeps.
type deadChoice struct {
	storeFlags `embed:""`
	deadFilter `embed:""`
	IDs        []string `arg:"" optional:"" name:"id" help:"As in the list."`
	All        bool     `help:"All of them, or all that --region and --target keep."`
	DryRun     bool     `help:"Only print what would happen."`
}

// choose gives the letters that are meant, and how many of the named ones are not there.
func (c *deadChoice) choose(ctx context.Context, d dead) (letters []checkstream.Letter, missing int, err error) {
	filtered := c.deadFilter != deadFilter{}
	switch {
	case len(c.IDs) > 0 && (c.All || filtered):
		return nil, 0, service.Exit(service.ExitConfig, errors.New("name letters by id, or with --all and filters: not both"))
	case len(c.IDs) == 0 && !c.All && filtered:
		return nil, 0, service.Exit(service.ExitConfig, errors.New("add --all to mean every letter that --region and --target keep"))
	case len(c.IDs) == 0 && !c.All:
		return nil, 0, service.Exit(service.ExitConfig, errors.New("name letters by id (`probefleet dead-letters ls` shows them), or say --all"))
	case c.All:
		err = d.walk(ctx, c.keeps, func(l checkstream.Letter) {
			l.Raw = "" // it may be long, and there may be many
			letters = append(letters, l)
		})
		return letters, 0, err
	}
	seen := make(map[string]bool)
	for _, id := range c.IDs {
		letter, err := d.letters.Get(ctx, id)
		switch {
		case errors.Is(err, checkstream.ErrNoLetter):
			_, _ = fmt.Fprintf(d.Err, "%s: there is no such letter\n", plain(id))
			missing++
		case err != nil:
			return nil, 0, unreachable(err)
		case !seen[letter.ID]:
			seen[letter.ID] = true
			letters = append(letters, letter)
		}
	}
	return letters, missing, nil
}
