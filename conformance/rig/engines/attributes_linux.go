package engines

import "syscall"

// attributes also end a program with the tests, those that end by a panic or a timeout and run no cleanups too.
func attributes(owner *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: owner, Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
