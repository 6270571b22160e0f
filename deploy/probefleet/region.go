package main

import (
	"context"
	"fmt"

	"github.com/probefleet/probefleet/internal/accountstore"
	"github.com/probefleet/probefleet/internal/database"
	"github.com/probefleet/probefleet/internal/schedulestore"
	"github.com/probefleet/probefleet/internal/service"
)

type regionCommand struct {
	List   regionList   `cmd:"" help:"Show the adopted regions."`
	Retire regionRetire `cmd:"" help:"End a region: from the publisher's next tick nothing is planned there. History stays."`
}

type regionList struct {
	storeFlags `embed:""`
}

func (c *regionList) Run(ctx context.Context, to console) error {
	return c.with(ctx, func(store *schedulestore.Store) error {
		versions, err := store.RegionVersions(ctx, 0)
		newest := map[string]schedulestore.RegionVersion{}
		var order []string
		for _, v := range versions {
			if _, seen := newest[v.Region]; !seen {
				order = append(order, v.Region)
			}
			newest[v.Region] = v
		}
		for _, region := range order {
			v := newest[region]
			state, since := "retired", "since "+v.EffectiveFrom.UTC().Format("2006-01-02 15:04:05Z")
			if v.Active {
				state = "active"
			}
			if v.EffectiveFrom.IsZero() {
				since = "as soon as a publisher runs"
			}
			_, _ = fmt.Fprintf(to.Out, "%-20s %-8s %s\n", region, state, since)
		}
		return err
	})
}

type regionRetire struct {
	storeFlags `embed:""`
	Region     string `arg:"" help:"Name of the region."`
}

func (c *regionRetire) Run(ctx context.Context, to console) error {
	return c.open(ctx, func(db *database.DB) error {
		changed, err := schedulestore.New(db).RetireRegion(ctx, c.Region)
		switch {
		case err != nil:
			return err
		case !changed:
			_, _ = fmt.Fprintf(to.Out, "%s is not an active region: nothing to do\n", c.Region)
			return nil
		}
		_, _ = fmt.Fprintf(to.Out, "%s ends at the publisher's next tick. A prober of it that is started later brings it back.\n", c.Region)
		return accountstore.New(db).Audit(ctx, accountstore.AuditEntry{Actor: accountstore.ActorTool, Action: "region.retired", Object: "region:" + c.Region})
	})
}

func (f storeFlags) with(ctx context.Context, use func(*schedulestore.Store) error) error {
	return f.open(ctx, func(db *database.DB) error { return use(schedulestore.New(db)) })
}

// open has the database used, and closes it.
func (f storeFlags) open(ctx context.Context, use func(*database.DB) error) error {
	stores, err := f.resolve()
	if err != nil {
		return service.Exit(service.ExitConfig, err)
	}
	db, err := database.Open(ctx, stores.DatabaseURL)
	if err != nil {
		return service.Exit(service.ExitDependency, err)
	}
	defer db.Close()
	return use(db)
}
