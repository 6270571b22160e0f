// Command probefleet is the operator's tool.
//
//	probefleet up                run everything on this machine
//	probefleet migrate up        bring the databases' schemas up to date
//	probefleet migrate status    show how far they are
//	probefleet check URL         have a running installation check a URL now
//	probefleet export            write the settings of all targets to a file
//	probefleet import FILE       make and change targets as a file says; --plan only tells
//	probefleet doctor            check dependencies and settings, with the fix for each
//	probefleet history rebuild   compute the hourly and daily figures of a range again
//	probefleet history export    write what is kept of a target to a file
//	probefleet region list       show the adopted regions
//	probefleet region retire R   end a region at the publisher's next tick
//	probefleet secrets reseal    seal secrets anew after SECRET_KEY was changed
//	probefleet dead-letters ls   what was given up and why; show, replay, purge
//	probefleet status-page export SLUG DIR  write a page to files that need no server
//	probefleet engine fetch      fetch the embedded ClickHouse engine into the cache
//	probefleet version           print the version
//
// Commands that talk to stores take DATABASE_URL, REDIS_URL and CLICKHOUSE_URL;
// what is unset is read from the running installation in --dir.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/alecthomas/kong"

	"github.com/probefleet/probefleet/deploy/embedded"
	"github.com/probefleet/probefleet/internal/service"
)

func main() {
	if code, ran := embedded.MaybeRunChild(os.Args); ran {
		os.Exit(code)
	}
	os.Exit(run(os.Args[1:], os.Stdout, os.Stderr))
}

type commandLine struct {
	Up      upCommand        `cmd:"" help:"Run everything on this machine and print the URL."`
	Migrate migrateCommand   `cmd:"" help:"Bring the databases' schemas up to date, or show how far they are."`
	Check   checkCommand     `cmd:"" help:"Have a running installation check a URL now; exits with 0 (up), 1 (down) or 2 (could not be checked)."`
	Export  exportCommand    `cmd:"" help:"Write the settings of all targets, without secrets."`
	Import  importCommand    `cmd:"" help:"Make and change targets as a file says; exits with 1 when some of it is refused."`
	Doctor  doctorCommand    `cmd:"" help:"Check dependencies and settings; every finding says how to fix it."`
	History historyCommand   `cmd:"" help:"Export what is kept; compute figures again."`
	Region  regionCommand    `cmd:"" help:"List and retire regions."`
	Secrets secretsCommand   `cmd:"" help:"Change the key that secrets are sealed with."`
	Page    pageCommand      `cmd:"" name:"status-page" help:"Write a public status page to files."`
	Engine  engineCommand    `cmd:"" help:"The embedded ClickHouse engine."`
	Dead    deadCommand      `cmd:"" name:"dead-letters" help:"List, show, replay and purge what was given up."`
	Ver     versionCommand   `cmd:"" name:"version" help:"Print the version."`
	Version kong.VersionFlag `help:"Print the version."`
}

// console is where commands write: results to Out, progress to Err.
type console struct{ Out, Err io.Writer }

func run(args []string, out, errOut io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	var cli commandLine
	exit, exited := 0, false
	parser, err := kong.New(&cli, kong.Name("probefleet"), kong.Description("Watches URLs from many regions and tells the truth about them."),
		kong.UsageOnError(), kong.Writers(out, errOut), kong.Vars{"version": service.Version()},
		kong.Exit(func(code int) { exit, exited = code, true }),
		kong.BindTo(ctx, (*context.Context)(nil)), kong.Bind(console{out, errOut}))
	if err != nil {
		_, _ = fmt.Fprintln(errOut, "probefleet:", err)
		return service.ExitFailure
	}
	parsed, err := parser.Parse(args)
	if exited {
		return exit
	}
	if err != nil {
		_, _ = fmt.Fprintln(errOut, "probefleet:", err)
		return service.ExitConfig
	}
	err = parsed.Run()
	if err != nil && !errors.Is(err, context.Canceled) {
		_, _ = fmt.Fprintln(errOut, "probefleet:", err)
		return service.Code(err)
	}
	return service.ExitOK
}
