package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// grow measures with increasing numbers of connections, and with one and two cores, once for each round. It prints
// lines in the format of Go benchmarks.
func (m *measurement) grow(ctx context.Context) error {
	if err := raiseFiles(); err != nil {
		return err
	}
	if err := m.begin(); err != nil {
		return err
	}
	defer m.end()
	for range m.rounds {
		if err := m.growOnce(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (m *measurement) growOnce(ctx context.Context) error {
	for _, connections := range []int{1, 10, 100, 1000, 10_000} {
		name := func(series string) string { return "connections/" + series + "/" + strconv.Itoa(connections) }
		if err := m.crowded(ctx, serverCore, connections, name); err != nil {
			return err
		}
	}
	for i, cores := range []string{serverCore, bothCores} {
		name := func(series string) string { return "cores/" + series + "/" + strconv.Itoa(i+1) }
		if err := m.crowded(ctx, cores, 32, name); err != nil {
			return err
		}
	}
	return nil
}

// crowded measures a plain handler, a page and the session, each in a separate server on these cores and with this
// number of connections.
func (m *measurement) crowded(ctx context.Context, cores string, connections int, name func(string) string) error {
	for _, c := range []struct{ series, server, path string }{
		{"bare handler", "bare", ""}, {"page", "stdlib", "page"}, {"GET session", "stdlib", "session"},
	} {
		title := name(c.series)
		if m.only != nil && !m.only.MatchString(title) {
			continue
		}
		p, err := start(ctx, cores, server{Name: c.server}, "http://127.0.0.1:1", m.dir, m.profiles)
		if err != nil {
			return err
		}
		asked := path{Method: http.MethodGet, Target: "/"}
		if c.path != "" {
			asked, err = prepare(ctx, server{Name: c.server}, p.origin(), c.path)
		}
		var got load
		if err == nil {
			got, err = m.steady(ctx, p, asked, connections)
		}
		p.stop()
		if err != nil {
			return fmt.Errorf("%s: %w", title, err)
		}
		_, _ = fmt.Fprintf(m.out, "BenchmarkGrowth/%s 1 %.0f cpu-ns/op %.0f req/s %.2f p50-ms %.2f p99-ms %.1f MB\n",
			strings.ReplaceAll(title, " ", "_"), got.cpu*1e3, got.rate,
			milliseconds(got.half), milliseconds(got.late), got.memory)
	}
	return nil
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1e3 }

// load is the measurement of a server under load.
type load struct {
	sample
	half, late time.Duration // median and 99th percentile of the latency
	memory     float64       // maximum memory of the server in MB
}

// steady returns the cost of a request on existing connections: the cost of a long run minus that of a short one. Both
// begin by opening all connections. A first run warms the server up.
func (m *measurement) steady(ctx context.Context, p *process, asked path, connections int) (l load, err error) {
	script, err := m.script(asked)
	if err != nil {
		return l, err
	}
	const inSecond = 1000 // connections per second on a busy machine
	making := connections / inSecond
	var used, counted float64
	for _, seconds := range []int{making + 1, making + m.seconds, 2*making + 3*m.seconds} {
		before, err := cpuTime(p.Process.Pid)
		if err != nil {
			return l, err
		}
		out, err := m.ask(ctx, script, connections, seconds, p.origin()+asked.Target)
		if err != nil {
			return l, err
		}
		after, err := cpuTime(p.Process.Pid)
		if err != nil {
			return l, err
		}
		count, rate, err := read(out)
		if err != nil {
			return l, err
		}
		took := float64((after - before).Nanoseconds()) / 1e3
		l.sample = sample{(took - used) / (count - counted), rate}
		used, counted = took, count
		if l.half, l.late, err = readWaits(out); err != nil {
			return l, err
		}
	}
	l.memory, err = mostMemory(p.Process.Pid)
	return l, err
}

var waited = regexp.MustCompile(`(?m)^\s+(50|99)%\s+(\S+) *$`)

// readWaits returns the median and the 99th percentile from wrk's output.
func readWaits(text []byte) (half, late time.Duration, err error) {
	found := waited.FindAllSubmatch(text, -1)
	if len(found) != 2 {
		return 0, 0, fmt.Errorf("wrk printed no waits: %s", text)
	}
	half, err = time.ParseDuration(string(found[0][2]))
	if err != nil {
		return 0, 0, err
	}
	late, err = time.ParseDuration(string(found[1][2]))
	return half, late, err
}

// mostMemory returns the maximum memory of a process in MB, as measured by Linux.
func mostMemory(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(text), "VmHWM:")
	var kilobytes float64
	if _, err := fmt.Sscan(rest, &kilobytes); !found || err != nil {
		return 0, errors.New("the system does not tell the memory of a process: this runs on Linux")
	}
	return kilobytes / 1024, nil
}

// raiseFiles raises the limit of open files of this process and its children, because each connection is a file.
func raiseFiles() error {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return err
	}
	const wanted = 10_100
	if limit.Max < wanted {
		return fmt.Errorf("a process may open %d files here, and needs %d: raise it with ulimit -n", limit.Max, wanted)
	}
	limit.Cur = limit.Max
	return syscall.Setrlimit(syscall.RLIMIT_NOFILE, &limit)
}
