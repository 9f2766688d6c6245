package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// runs starts an example by its version, as a new user does, and requests its page.
func (s stranger) runs(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp(s.folder, "empty-*")
	if err != nil {
		return err
	}
	port, err := freePort(ctx)
	if err != nil {
		return err
	}
	prefix := strings.TrimSuffix(s.list[0].path, s.list[0].dir)
	run := exec.Command("go", "run", prefix+"examples/stdlib@"+s.version,
		"-addr", "127.0.0.1:"+port, "-data", filepath.Join(dir, "data"))
	run.Dir, run.Env = dir, append(os.Environ(), s.env...)
	run.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // to stop go run together with the program that it starts
	var said strings.Builder
	run.Stderr = &said
	out, err := run.StdoutPipe()
	if err != nil {
		return err
	}
	if err := run.Start(); err != nil {
		return err
	}
	lines := bufio.NewScanner(out)
	defer func() {
		_ = syscall.Kill(-run.Process.Pid, syscall.SIGINT)
		for lines.Scan() {
			continue
		}
		_ = run.Wait() // go run reports that it was interrupted
	}()
	stop := context.AfterFunc(ctx, func() { _ = syscall.Kill(-run.Process.Pid, syscall.SIGKILL) })
	defer stop()
	for lines.Scan() {
		if strings.Contains(lines.Text(), "Open  ") {
			return asks(ctx, "http://localhost:"+port+"/")
		}
	}
	return fmt.Errorf("go run of the example ended: %s", said.String())
}

func asks(ctx context.Context, link string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, link, nil)
	if err != nil {
		return err
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("the example answers %s", answer.Status)
	}
	return errors.Join(err, answer.Body.Close())
}

func freePort(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	return port, errors.Join(err, listener.Close())
}
