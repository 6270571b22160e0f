package embedded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
)

const (
	childArgument = "__clickhouse"
	// childMark tells a program that it is the child. A child that starts a
	// child has forgotten MaybeRunChild and would do so without end.
	childMark = "PROBEFLEET_CLICKHOUSE_CHILD"
)

// Exit codes of the child, as the parent reads them.
const (
	childStopped = 0
	childFailed  = 1
	childLocked  = 3
)

// MaybeRunChild runs the ClickHouse engine when args (os.Args) say that this
// process is its child, and returns its exit code and true. Otherwise it
// returns false at once. Call it first in main and in TestMain.
func MaybeRunChild(args []string) (code int, ran bool) {
	if len(args) < 2 || args[1] != childArgument {
		return 0, false
	}
	return RunClickHouseChild(args[2:], os.Stderr), true
}

// RunClickHouseChild runs the engine in this process until SIGTERM. args are
// the library, the data folder, the HTTP port and the native port. It takes
// over file descriptors 0, 1 and 2.
func RunClickHouseChild(args []string, errOut io.Writer) int {
	c, err := parseChild(args)
	if err == nil {
		err = c.run()
	}
	switch {
	case err == nil:
		return childStopped
	case errors.Is(err, ErrLocked):
		return childLocked
	}
	fmt.Fprintln(errOut, "clickhouse:", err)
	return childFailed
}

type child struct {
	lib, dir          string
	httpPort, tcpPort int
	maxMemory         int64
	noFsync           bool
}

func (c child) args() []string {
	return []string{childArgument, c.lib, c.dir, strconv.Itoa(c.httpPort), strconv.Itoa(c.tcpPort),
		strconv.FormatInt(c.maxMemory, 10), strconv.FormatBool(c.noFsync)}
}

func parseChild(args []string) (c child, err error) {
	if len(args) != 6 {
		return c, fmt.Errorf("%s takes 6 arguments and is for internal use", childArgument)
	}
	c.lib, c.dir = args[0], args[1]
	var errs [4]error
	c.httpPort, errs[0] = strconv.Atoi(args[2])
	c.tcpPort, errs[1] = strconv.Atoi(args[3])
	c.maxMemory, errs[2] = strconv.ParseInt(args[4], 10, 64)
	c.noFsync, errs[3] = strconv.ParseBool(args[5])
	return c, errors.Join(errs[:]...)
}
