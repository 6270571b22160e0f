package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/seal"
	"github.com/probefleet/probefleet/internal/sealstore"
	"github.com/probefleet/probefleet/internal/service"
)

type secretsCommand struct {
	Reseal secretsReseal `cmd:"" help:"Seal what SECRET_KEY_OTHER sealed with SECRET_KEY: one step of changing the key, see docs/operations.md. Can be repeated."`
}

type secretsReseal struct {
	storeFlags `embed:""`
	DryRun     bool `help:"Only count."`
}

func (c *secretsReseal) Run(ctx context.Context, to console) error {
	box, err := c.box()
	if err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	return c.open(ctx, func(db *database.DB) error {
		counts, err := sealstore.Reseal(ctx, db, box, c.DryRun)
		all, fresh, broken, left := 0, 0, 0, 0
		for _, n := range counts {
			line := fmt.Sprintf("%-22s %7d sealed, %7d with another key", n.What, n.All, n.Fresh)
			if n.Broken > 0 {
				line += fmt.Sprintf(", %d do not open", n.Broken)
			}
			_, _ = fmt.Fprintln(to.Out, line)
			all, fresh, broken, left = all+n.All, fresh+n.Fresh, broken+n.Broken, left+n.Left
		}
		if err == nil && fresh > 0 && !c.DryRun {
			err = accountstore.New(db).Audit(ctx, accountstore.AuditEntry{Actor: accountstore.ActorTool, Action: "secrets.resealed", Detail: fmt.Sprintf("%d of %d", fresh, all)})
		}
		switch {
		case err != nil:
			return err
		case broken > 0:
			return fmt.Errorf("%d do not open: with neither SECRET_KEY nor SECRET_KEY_OTHER; set the latter to the key that they were sealed with, or enter these secrets again", broken)
		case left > 0:
			return fmt.Errorf("%d were sealed with another key meanwhile: is SECRET_KEY the new one at every API node? Keep SECRET_KEY_OTHER, and run this again", left)
		case c.DryRun:
			_, _ = fmt.Fprintf(to.Out, "%d would be sealed with SECRET_KEY; nothing was changed\n", fresh)
		default:
			_, _ = fmt.Fprintln(to.Out, "All are sealed with SECRET_KEY. SECRET_KEY_OTHER can go in a quarter of an hour, when no check that was handed out before is under way.")
		}
		return nil
	})
}

// box has the keys of the environment, or of the installation in Dir.
func (c *secretsReseal) box() (*seal.Box, error) {
	env, err := readEnvironment()
	if err != nil {
		return nil, err
	}
	kept, err := os.ReadFile(filepath.Join(c.Dir, "secret_key"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	key := cmp.Or(env.SecretKey.Reveal(), strings.TrimSpace(string(kept)))
	if key == "" {
		return nil, fmt.Errorf("no key is known: set SECRET_KEY, or name the folder of a 'probefleet up' with --dir (%s has no secret_key)", c.Dir)
	}
	return seal.New(key, env.OtherKey.Reveal())
}
