package engines

import "syscall"

// attributes make a program end with the tests, even after a panic or a timeout, when no cleanup runs.
func attributes(owner *syscall.Credential) *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Credential: owner, Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
