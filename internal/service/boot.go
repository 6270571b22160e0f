package service

import (
	"context"
	"errors"
	"fmt"
	"time"
)

const (
	bootPatience = 60 * time.Second
	bootRetry    = time.Second
	bootTry      = 10 * time.Second
)

// Dependency is a server a service cannot start without.
type Dependency struct {
	Name string
	Try  func(context.Context) error
}

// Await tries the dependencies in turn until they work, for at most a minute
// together: then the error carries ExitDependency. An error that waiting cannot
// mend (it has a method Hopeless() bool that says so, such as a schema that is too
// old) ends it at once. /healthz says meanwhile what is waited for.
func (s *Service) Await(ctx context.Context, dependencies ...Dependency) error {
	limit, cancel := context.WithTimeout(ctx, bootPatience)
	defer cancel()
	for _, d := range dependencies {
		if err := s.await(ctx, limit, d); err != nil {
			return err
		}
		s.Health.Set(d.Name, OK, "")
	}
	return nil
}

func (s *Service) await(ctx, limit context.Context, d Dependency) error {
	for first := true; ; first = false {
		attempt, cancel := context.WithTimeout(limit, bootTry)
		err := d.Try(attempt)
		cancel()
		if err == nil {
			return nil
		}
		var judged interface {
			error
			Hopeless() bool
		}
		if errors.As(err, &judged) && judged.Hopeless() {
			return Exit(ExitDependency, err)
		}
		s.Health.Set(d.Name, Error, "waiting at start: "+err.Error())
		if first {
			s.Log.Warn("waiting for a dependency", "dependency", d.Name, "error", err)
		}
		select {
		case <-time.After(bootRetry):
		case <-limit.Done():
			if ctx.Err() != nil { // asked to stop
				return ctx.Err()
			}
			return Exit(ExitDependency, fmt.Errorf("%s did not come within %v: %w", d.Name, bootPatience, err))
		}
	}
}
