package browser_test

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends a program with the tests, those that end by panic or timeout and run no cleanups too.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
