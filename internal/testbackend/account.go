//go:build linux

package testbackend

import (
	"errors"
	"os"
	"os/exec"
	"os/user"
	"runtime"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// account is who runs a server that refuses root.
type account struct {
	uid, gid int
	switched bool
}

// unprivileged is this user, unless that is root.
func unprivileged() (account, error) {
	if os.Getuid() != 0 {
		return account{}, nil
	}
	for _, name := range []string{"postgres", "nobody"} {
		u, err := user.Lookup(name)
		if err != nil {
			continue
		}
		uid, uidErr := strconv.Atoi(u.Uid)
		gid, gidErr := strconv.Atoi(u.Gid)
		if err := errors.Join(uidErr, gidErr); err != nil {
			return account{}, err
		}
		return account{uid: uid, gid: gid, switched: true}, nil
	}
	return account{}, errors.New("postgres refuses to run as root, and there is no user postgres or nobody to run it as: set TEST_DATABASE_URL")
}

func (a account) own(path string) error {
	if !a.switched {
		return nil
	}
	return os.Chown(path, a.uid, a.gid)
}

func (a account) run(cmd *exec.Cmd, dir string) {
	cmd.Dir = dir
	cmd.SysProcAttr = &syscall.SysProcAttr{}
	if a.switched {
		cmd.SysProcAttr.Credential = &syscall.Credential{Uid: uint32(a.uid), Gid: uint32(a.gid)}
		// initdb redirects to /dev/null, which some sandboxes reserve for root.
		if info, err := os.Stat(os.DevNull); err == nil && info.Mode().Perm()&0o002 == 0 {
			cmd.SysProcAttr.AmbientCaps = []uintptr{unix.CAP_DAC_OVERRIDE}
		}
	}
}

// server is a child that ends with the test binary. SIGQUIT is PostgreSQL's
// immediate shutdown, which takes its workers along.
type server struct {
	cmd  *exec.Cmd
	done chan struct{}
}

// start starts cmd from a thread that lives as long as the child: the kernel
// sends the parent-death signal when the starting thread ends.
func start(cmd *exec.Cmd) (*server, error) {
	cmd.SysProcAttr.Pdeathsig = syscall.SIGQUIT
	cmd.SysProcAttr.Setpgid = true
	s := &server{cmd: cmd, done: make(chan struct{})}
	started := make(chan error, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			_ = cmd.Wait()
			close(s.done)
		}
	}()
	return s, <-started
}

func (s *server) kill() {
	_ = s.cmd.Process.Signal(syscall.SIGQUIT)
	<-s.done
}
