package embedded

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"github.com/ebitengine/purego"
	"golang.org/x/sys/unix"
)

// run is the life of the engine process: lock, configure, terminal, library,
// then one call that returns when the engine has stopped.
func (c child) run() error {
	// Without this a client that resets its connection kills the engine.
	signal.Ignore(syscall.SIGPIPE)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)

	lock, err := lockFile(filepath.Join(c.dir, "clickhouse.lock"))
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := writeConfig(c); err != nil {
		return err
	}
	prompt, err := giveTerminal()
	if err != nil {
		return err
	}
	log, err := openEngineLog(filepath.Join(c.dir, engineLogName))
	if err != nil {
		return err
	}
	entry, err := loadEngine(c.lib)
	if err != nil {
		return err
	}
	if err := log.takeOver(); err != nil {
		return err
	}

	ended := make(chan struct{})
	go func() {
		defer close(ended)
		runtime.LockOSThread()
		callEngine(entry, c.engineArgs())
	}()
	rotate := time.NewTicker(5 * time.Second)
	defer rotate.Stop()
	for {
		select {
		case <-ended:
			return errors.New("the engine stopped by itself")
		case <-rotate.C:
			log.rotate()
		case <-stop:
			return leave(prompt, ended)
		}
	}
}

// leave types "exit" until the engine hears it: a line typed before the prompt
// is open is thrown away. Killing a deaf engine is safe, and must not wait for
// a parent that may be gone.
func leave(prompt io.Writer, ended <-chan struct{}) error {
	again := time.NewTicker(200 * time.Millisecond)
	defer again.Stop()
	deadline := time.NewTimer(stopGrace)
	defer deadline.Stop()
	for {
		_, _ = io.WriteString(prompt, "exit\n")
		select {
		case <-ended:
			return nil
		case <-again.C:
		case <-deadline.C:
			return unix.Kill(os.Getpid(), unix.SIGKILL)
		}
	}
}

// giveTerminal makes a pseudo-terminal the standard input. With anything else
// there the engine aborts on the first exception that leaves a connection
// thread, such as a client that resets. It is also how the engine is kept
// waiting, and told to stop.
func giveTerminal() (io.Writer, error) {
	const advice = "the embedded ClickHouse engine needs a pseudo-terminal (/dev/ptmx): set CLICKHOUSE_URL to a ClickHouse server where there is none"
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", advice, err)
	}
	fd := int(master.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, fmt.Errorf("%s: unlock: %w", advice, err)
	}
	slave, err := openSlave(fd)
	if err != nil {
		return nil, fmt.Errorf("%s: open: %w", advice, err)
	}
	if err := unix.Dup3(slave, 0, 0); err != nil {
		return nil, fmt.Errorf("%s: take over standard input: %w", advice, err)
	}
	_ = unix.Close(slave)
	go func() { _, _ = io.Copy(io.Discard, master) }() // an unread terminal blocks its writer
	return master, nil
}

func openSlave(master int) (int, error) {
	const flags = unix.O_RDWR | unix.O_NOCTTY | unix.O_CLOEXEC
	// Works in containers whose /dev/pts is another mount; Linux 4.13 or later.
	peer, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(master), unix.TIOCGPTPEER, flags)
	if errno == 0 {
		return int(peer), nil
	}
	n, err := unix.IoctlGetInt(master, unix.TIOCGPTN)
	if err != nil {
		return 0, err
	}
	return unix.Open("/dev/pts/"+strconv.Itoa(n), flags, 0)
}

func loadEngine(lib string) (func(argc int32, argv **byte) uintptr, error) {
	handle, err := purego.Dlopen(lib, purego.RTLD_NOW|purego.RTLD_LOCAL)
	if err != nil {
		return nil, fmt.Errorf("load %s (delete its folder to fetch it again): %w", lib, err)
	}
	symbol, err := purego.Dlsym(handle, "chdb_query_cmdline")
	if err != nil {
		return nil, fmt.Errorf("load %s: %w", lib, err)
	}
	var entry func(argc int32, argv **byte) uintptr
	purego.RegisterFunc(&entry, symbol)
	return entry, nil
}

// callEngine returns when the engine ends. It keeps the arguments in place all
// that time: the engine holds on to them.
func callEngine(entry func(int32, **byte) uintptr, args []string) {
	var pin runtime.Pinner
	defer pin.Unpin()
	argv := make([]*byte, 0, len(args)+1)
	for _, arg := range args {
		text := append([]byte(arg), 0)
		pin.Pin(&text[0])
		argv = append(argv, &text[0])
	}
	argv = append(argv, nil)
	pin.Pin(&argv[0])
	entry(int32(len(args)), &argv[0])
}

func (c child) engineArgs() []string {
	return []string{
		"clickhouse",
		"--config-file=" + filepath.Join(c.dir, configName),
		"--path=" + filepath.Join(c.dir, "data"),
		"--listen_host=127.0.0.1",
		"--http_port=" + strconv.Itoa(c.httpPort),
		"--tcp_port=" + strconv.Itoa(c.tcpPort),
		"--logger.console",
		"--log-level=warning",
		"--query=SYSTEM START LISTEN TCP; SYSTEM START LISTEN HTTP;",
		"--interactive",
		"--history_file=/dev/null",
		"--disable_suggestion",
		"--highlight=0",
	}
}
