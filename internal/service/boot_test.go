package service

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

type tooOld struct{}

func (tooOld) Error() string  { return "schema is too old" }
func (tooOld) Hopeless() bool { return true }

func TestAwait(t *testing.T) {
	t.Parallel()
	down := errors.New("refused")
	for name, c := range map[string]struct {
		errs []error // of one attempt after the other; the last goes on
		code int
		took time.Duration
	}{
		"comes late":    {[]error{down, down, nil}, ExitOK, 2 * time.Second},
		"never comes":   {[]error{down}, ExitDependency, bootPatience},
		"cannot mend":   {[]error{down, tooOld{}}, ExitDependency, time.Second},
		"there at once": {[]error{nil}, ExitOK, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := &Service{Log: slog.New(slog.DiscardHandler), Health: NewHealth("sample", "1")}
				start, attempt := time.Now(), -1
				err := s.Await(t.Context(), Dependency{"redis", func(context.Context) error {
					attempt = min(attempt+1, len(c.errs)-1)
					return c.errs[attempt]
				}})
				if Code(err) != c.code || time.Since(start) != c.took {
					t.Errorf("%v after %v", err, time.Since(start))
				}
			})
		})
	}
}

func TestAwaitEndsWhenAskedToStop(t *testing.T) {
	t.Parallel()
	s := &Service{Log: slog.New(slog.DiscardHandler), Health: NewHealth("sample", "1")}
	ctx, stop := context.WithCancel(t.Context())
	stop()
	err := s.Await(ctx, Dependency{"redis", func(context.Context) error { return errors.New("down") }})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("asked to stop: %v", err)
	}
}
