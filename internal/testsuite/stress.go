package main

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
)

const (
	stressRounds = 4 // each in an order of its own
	stressEach   = 5 // times in a round
	busyLoops    = 4
)

// stressPlan repeats the tests of some packages 20 times beside busy loops, then 20 times on one core.
func stressPlan(ctx context.Context, s *suite) (plan, error) {
	patterns := strings.Fields(os.Getenv("PKG"))
	if len(patterns) == 0 {
		changed, err := s.changedPackages(ctx, cmp.Or(os.Getenv("SINCE"), "HEAD~1"))
		if err != nil {
			return plan{}, err
		}
		patterns = changed
	}
	if len(patterns) == 0 {
		return plan{}, fmt.Errorf("no package has changed: set PKG=./folder/... or SINCE=commit")
	}
	return plan{
		prepare: []stage{{"build", build}, {"servers", servers}},
		lanes: [][]stage{{
			{"busy", beside(busyLoops, rounds(patterns))},
			{"one core", rounds(patterns, "-cpu=1")},
		}},
	}, nil
}

// changedPackages are the folders with Go files that differ from a commit.
func (s *suite) changedPackages(ctx context.Context, commit string) ([]string, error) {
	out, err := s.program(ctx, "", "git", "diff", "--name-only", commit, "--", "*.go").Output()
	if err != nil {
		return nil, fmt.Errorf("ask git what changed since %s: %w", commit, err)
	}
	var folders []string
	for file := range strings.Lines(string(out)) {
		folder := path.Dir(strings.TrimSpace(file))
		if _, err := os.Stat(path.Join(s.root, folder)); err == nil {
			folders = append(folders, "./"+folder)
		}
	}
	slices.Sort(folders)
	return slices.Compact(folders), nil
}

func rounds(packages []string, args ...string) func(context.Context, *stageRun) {
	each := slices.Concat([]string{"-short", "-shuffle=on", fmt.Sprintf("-count=%d", stressEach)}, args)
	return func(ctx context.Context, r *stageRun) {
		for range stressRounds {
			if ctx.Err() == nil {
				goStage(packages, each...)(ctx, r)
			}
		}
	}
}

// beside runs a stage while loops of this process keep that many cores busy.
func beside(loops int, run func(context.Context, *stageRun)) func(context.Context, *stageRun) {
	return func(ctx context.Context, r *stageRun) {
		defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(loops + 2))
		var over atomic.Bool
		defer over.Store(true)
		for range loops {
			go func() {
				for !over.Load() {
				}
			}()
		}
		run(ctx, r)
	}
}
