package supervisor

import "syscall"

// childAttributes: its own process group (Ctrl-C reaches only the supervisor,
// which then ends the programs in order) and the parent-death signal.
func childAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGTERM}
}
