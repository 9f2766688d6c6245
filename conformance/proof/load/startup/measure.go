package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// start is the measurement of one start.
type start struct {
	wall, cpu time.Duration // to the first response
	memory    int           // kB after the requests
}

// report measures several starts, the last one with this number of requests. It prints medians.
func report(ctx context.Context, out io.Writer, times, requests int) error {
	_, _ = fmt.Fprintf(out, "%-34s %10s %10s %12s\n", "", "wall ms", "CPU ms", "memory MB")
	for _, c := range []struct {
		name              string
		tenants, requests int
	}{
		{"ten providers, first answer", 1, 1},
		{"100 tenants, first answer", 100, 1},
		{fmt.Sprintf("ten providers, %d answers", requests), 1, requests},
	} {
		var all []start
		for range times {
			s, err := measure(ctx, c.tenants, c.requests)
			if err != nil {
				return fmt.Errorf("%s: %w", c.name, err)
			}
			all = append(all, s)
		}
		_, _ = fmt.Fprintf(out, "%-34s %10.1f %10.1f %12.1f\n", c.name,
			median(all, func(s start) float64 { return s.wall.Seconds() * 1e3 }),
			median(all, func(s start) float64 { return s.cpu.Seconds() * 1e3 }),
			median(all, func(s start) float64 { return float64(s.memory) / 1024 }))
	}
	return nil
}

func median(all []start, of func(start) float64) float64 {
	values := make([]float64, len(all))
	for i, s := range all {
		values[i] = of(s)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

// measure starts the program once, and stops it after this number of requests.
func measure(ctx context.Context, tenants, requests int) (s start, err error) {
	self, err := os.Executable()
	if err != nil {
		return s, err
	}
	p := exec.CommandContext(ctx, self, "-serve", "-tenants", strconv.Itoa(tenants))
	p.Stderr = os.Stderr
	pipe, err := p.StdoutPipe()
	if err != nil {
		return s, err
	}
	began := time.Now()
	if err := p.Start(); err != nil {
		return s, err
	}
	line, err := bufio.NewReader(pipe).ReadString('\n')
	address := "http://" + strings.TrimSpace(line) + "/auth/signin"
	if err == nil {
		err = ask(ctx, address)
	}
	s.wall = time.Since(began)
	if err == nil {
		err = askOften(ctx, address, requests-1)
	}
	if err == nil {
		s.memory, err = memory(p.Process.Pid)
	}
	_, _ = p.Process.Kill(), p.Wait()
	s.cpu = p.ProcessState.UserTime() + p.ProcessState.SystemTime()
	return s, err
}

// askOften sends n requests from 32 concurrent clients.
func askOften(ctx context.Context, address string, n int) error {
	const visitors = 32
	var wait sync.WaitGroup
	failed := make([]error, visitors)
	for i := range visitors {
		wait.Go(func() {
			for range n / visitors {
				failed[i] = errors.Join(failed[i], ask(ctx, address))
			}
		})
	}
	wait.Wait()
	return errors.Join(failed...)
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}

func ask(ctx context.Context, address string) error {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	answer, err := client.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return errors.New(answer.Status)
	}
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

// memory returns the resident memory of a process in kB, as measured by Linux (VmRSS).
func memory(pid int) (int, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
		}
	}
	return 0, errors.New("the system does not tell the memory of a process: this runs on Linux")
}
