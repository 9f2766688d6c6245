package browser_test

import (
	"os/exec"
	"syscall"
)

// dieWithParent ends the program when the tests end, even after a panic or a timeout, when no cleanup runs.
func dieWithParent(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGTERM} }
