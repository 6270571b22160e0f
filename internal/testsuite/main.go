package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/probefleet/probefleet/deploy/embedded"
)

func main() {
	if code, ran := embedded.MaybeRunChild(os.Args); ran {
		os.Exit(code)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	passed, err := run(ctx, os.Args[1:])
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsuite:", err)
	}
	if err != nil || !passed {
		os.Exit(1)
	}
}

// run runs the stages of a command and says whether all of them passed.
func run(ctx context.Context, args []string) (passed bool, err error) {
	if len(args) != 1 {
		return false, fmt.Errorf("usage: testsuite test|unit|verify|stress")
	}
	plans := map[string]func(context.Context, *suite) (plan, error){
		"test": testPlan, "unit": unitPlan, "verify": verifyPlan, "stress": stressPlan,
	}
	build, known := plans[args[0]]
	if !known {
		return false, fmt.Errorf("unknown command %q: test, unit, verify or stress", args[0])
	}
	s, err := newSuite(args[0])
	if err != nil {
		return false, err
	}
	defer s.close()
	p, err := build(ctx, s)
	if err != nil {
		return false, err
	}
	return s.run(ctx, p)
}
