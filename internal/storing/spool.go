// Package storing is what the services that store rows have in common: how their spool
// is opened at start, and what they say of their rows on /healthz.
package storing

import (
	"context"
	"errors"
	"fmt"

	"github.com/probefleet/probefleet/internal/service"
	"github.com/probefleet/probefleet/internal/spool"
)

// OpenSpool opens the spool that is configured by PREFIX_SPOOL_DIR and its companions. A
// folder that another process has may be given up by a predecessor that still
// drains: it is waited for, at most a minute (exit 75). A disk that fails is exit 74,
// a folder that cannot be used or would not survive a restart 78.
func OpenSpool(ctx context.Context, s *service.Service, prefix string, o spool.Options) (*spool.Spool, error) {
	o.Log, o.Metrics = s.Log, s.Metrics
	var opened *spool.Spool
	open := func(context.Context) (err error) {
		opened, err = spool.Open(o)
		return err
	}
	err := open(ctx)
	if errors.Is(err, spool.ErrLocked) {
		err = s.Await(ctx, service.Dependency{Name: "spool", Try: open})
		return opened, err
	}
	if _, volatile := errors.AsType[*spool.VolatileError](err); volatile {
		err = fmt.Errorf("%w (the switch is %s_SPOOL_VOLATILE=true)", err, prefix)
	}
	if err != nil {
		return nil, service.Exit(exitCode(err), fmt.Errorf("%s_SPOOL_DIR: %w", prefix, err))
	}
	return opened, nil
}

func exitCode(err error) int {
	if _, disk := errors.AsType[*spool.IOError](err); disk {
		return service.ExitSpool
	}
	return service.ExitConfig
}
