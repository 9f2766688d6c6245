package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// measurement is one run of this program.
type measurement struct {
	out             io.Writer
	seconds, rounds int
	only            *regexp.Regexp // matches "stdlib session/sqlite"
	strict          bool
	profiles        string // folder of the servers' CPU profiles, or empty

	wrk, dir, provider string
}

// sample is one measurement: CPU time for each request, and requests per second.
type sample struct{ cpu, rate float64 }

func (m *measurement) run(ctx context.Context, stores []string) error {
	if err := m.begin(); err != nil {
		return err
	}
	defer m.end()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	provider, err := start(ctx, otherCore, server{Name: "provider"}, "", "", "")
	if err != nil {
		return err
	}
	defer provider.stop()
	m.provider = provider.origin()
	for _, missing := range []string{postgresURL, redisURL} {
		if os.Getenv(missing) == "" {
			_, _ = fmt.Fprintf(m.out, "%s is not set: its store is left out\n", missing)
		}
	}
	for _, note := range misplaced(ctx) {
		_, _ = fmt.Fprintln(m.out, note)
	}
	_, _ = fmt.Fprintf(m.out, "%-26s %10s %10s %8s %9s %7s\n", "", "CPU µs", "req/s", "of bare", "of floor", "wanted")
	floors, low := map[string]float64{}, []string(nil)
	for _, taking := range turns(servers(stores)) {
		rows, err := m.together(ctx, taking)
		if err != nil {
			return err
		}
		for _, r := range rows {
			if m.report(r, floors) {
				low = append(low, r.name())
			}
		}
	}
	if m.strict && len(low) > 0 {
		return fmt.Errorf("slower than wanted: %s", strings.Join(low, ", "))
	}
	return nil
}

// begin checks the requirements of a run, and creates its folder.
func (m *measurement) begin() (err error) {
	if m.wrk, err = exec.LookPath("wrk"); err != nil {
		return errors.New("wrk is not installed: apt-get install -y --no-install-recommends wrk")
	}
	m.dir, err = os.MkdirTemp("", "latchkey-load-")
	return err
}

func (m *measurement) end() { _ = os.RemoveAll(m.dir) }

// report prints a row, and reports whether the path is slower than wanted. floors are the baseline's ratios by path and
// store, for routers that do not take turns with the baseline.
func (m *measurement) report(r row, floors map[string]float64) (low bool) {
	kind := r.path
	if r.store != "" {
		kind += "/" + r.store
	}
	if r.server == "floor" {
		floors[kind] = r.share
		r.print(m.out, 0)
		return false
	}
	least := wanted[kind]
	if floor := floors[kind]; r.ofFloor == 0 && floor > 0 {
		r.ofFloor = r.share / floor
	}
	r.print(m.out, least)
	if r.store == "memory" {
		return r.share < ofMemory
	}
	return r.ofFloor > 0 && r.ofFloor < least
}

// together measures the paths of servers that take turns, each one once for each round, after the plain handler. The
// servers' requests of one path follow each other directly, because a machine has slow and fast minutes.
func (m *measurement) together(ctx context.Context, servers []server) (rows []row, err error) {
	all := make([]series, len(servers))
	for i, s := range servers {
		all[i] = series{server: s, samples: map[string][]sample{}}
		all[i].Paths = slices.DeleteFunc(slices.Clone(s.Paths), func(path string) bool { return !m.chosen(s, path) })
	}
	all = slices.DeleteFunc(all, func(s series) bool { return len(s.Paths) == 0 })
	if len(all) == 0 {
		return nil, nil
	}
	for range m.rounds {
		if err := m.round(ctx, all); err != nil {
			return nil, err
		}
		slices.Reverse(all) // the order alternates between rounds
	}
	if m.rounds%2 == 1 {
		slices.Reverse(all)
	}
	for _, s := range all {
		for _, name := range s.Paths {
			rows = append(rows, s.row(name, all[0]))
		}
	}
	return rows, nil
}

// round measures each path of each server once.
func (m *measurement) round(ctx context.Context, all []series) error {
	bare, err := m.bare(ctx, all[0].Bare)
	if err != nil {
		return err
	}
	running := make([]*process, len(all))
	for i, s := range all {
		if running[i], err = start(ctx, serverCore, s.server, m.provider, m.dir, m.profiles); err != nil {
			return err
		}
		defer running[i].stop()
		all[i].bare = append(s.bare, bare)
	}
	for _, name := range everyPath {
		for i, s := range all {
			if !slices.Contains(s.Paths, name) {
				continue
			}
			asked, err := prepare(ctx, s.server, running[i].origin(), name)
			if err != nil {
				return fmt.Errorf("%s %s: %w", s.Name, name, err)
			}
			got, err := m.path(ctx, running[i], asked)
			if err != nil {
				return fmt.Errorf("%s %s: %w", s.Name, name, err)
			}
			s.samples[name] = append(s.samples[name], got)
		}
	}
	return nil
}

// series are the measurements of a server, by round.
type series struct {
	server
	bare    []sample // of the plain handler
	samples map[string][]sample
}

// row summarizes a path. first is the first server of those that take turns.
func (s *series) row(name string, first series) row {
	of := func(others []sample) float64 {
		var parts []float64
		for i, other := range others {
			parts = append(parts, other.cpu/s.samples[name][i].cpu)
		}
		return median(parts, func(f float64) float64 { return f })
	}
	r := row{
		server: s.Name, store: s.Store, path: name, share: of(s.bare),
		cpu:  median(s.samples[name], func(s sample) float64 { return s.cpu }),
		rate: median(s.samples[name], func(s sample) float64 { return s.rate }),
	}
	if first.Name == "floor" && s.Name != "floor" && len(first.samples[name]) > 0 {
		r.ofFloor = of(first.samples[name])
	}
	return r
}

func (m *measurement) chosen(s server, path string) bool {
	return m.only == nil || m.only.MatchString(s.Name+" "+path+"/"+s.Store)
}

func median[T any](all []T, of func(T) float64) float64 {
	values := make([]float64, len(all))
	for i, one := range all {
		values[i] = of(one)
	}
	slices.Sort(values)
	return values[len(values)/2]
}

func (m *measurement) bare(ctx context.Context, name string) (sample, error) {
	p, err := start(ctx, serverCore, server{Name: name}, "", "", "")
	if err != nil {
		return sample{}, err
	}
	defer p.stop()
	return m.path(ctx, p, path{Name: name, Method: "GET", Target: "/"})
}

// path measures a path with wrk, after a warm-up.
func (m *measurement) path(ctx context.Context, p *process, asked path) (s sample, err error) {
	script, err := m.script(asked)
	if err != nil {
		return s, err
	}
	for _, seconds := range []int{1, m.seconds} {
		before, err := cpuTime(p.Process.Pid)
		if err != nil {
			return s, err
		}
		out, err := m.ask(ctx, script, 32, seconds, p.origin()+asked.Target)
		if err != nil {
			return s, err
		}
		after, err := cpuTime(p.Process.Pid)
		if err != nil {
			return s, err
		}
		count, rate, err := read(out)
		if err != nil {
			return s, err
		}
		s = sample{float64((after - before).Nanoseconds()) / 1e3 / count, rate}
	}
	return s, nil
}

// script writes the request as a script for wrk.
func (m *measurement) script(asked path) (file string, err error) {
	text := fmt.Sprintf("wrk.method = %q\n", asked.Method)
	if asked.Cookie != "" {
		text += fmt.Sprintf("wrk.headers[\"Cookie\"] = %q\n", asked.Cookie)
	}
	if asked.Body != "" {
		text += fmt.Sprintf("wrk.body = %q\nwrk.headers[\"Content-Type\"] = %q\n", asked.Body, urlEncoded)
	}
	file = filepath.Join(m.dir, "load.lua")
	return file, os.WriteFile(file, []byte(text), 0o600)
}

// ask runs wrk with this number of connections and seconds, and returns its output.
func (m *measurement) ask(ctx context.Context, script string, connections, seconds int, url string) ([]byte, error) {
	out, err := pinned(ctx, otherCore, m.wrk, "-t1", "-c"+strconv.Itoa(connections), "-d"+strconv.Itoa(seconds)+"s",
		"--timeout", "30s", "--latency", "-s", script, url).CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, out)
	}
	return out, nil
}

var (
	inAll     = regexp.MustCompile(`(\d+) requests in`)
	perSecond = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)
)

// read parses the number of requests and the rate from wrk's output. Failed responses and broken connections are an
// error.
func read(text []byte) (count, rate float64, err error) {
	if bytes.Contains(text, []byte("Non-2xx")) || bytes.Contains(text, []byte("Socket errors")) {
		return 0, 0, fmt.Errorf("some responses failed: %s", text)
	}
	n, r := inAll.FindSubmatch(text), perSecond.FindSubmatch(text)
	if n == nil || r == nil {
		return 0, 0, fmt.Errorf("wrk printed no rate: %s", text)
	}
	if count, err = strconv.ParseFloat(string(n[1]), 64); err != nil || count == 0 {
		return 0, 0, fmt.Errorf("wrk counted no requests: %s", text)
	}
	rate, err = strconv.ParseFloat(string(r[1]), 64)
	return count, rate, err
}

// cpuTime returns the CPU time of all threads of a process, as measured by Linux.
func cpuTime(pid int) (total time.Duration, err error) {
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/schedstat", pid))
	if err != nil || len(threads) == 0 {
		return 0, errors.Join(err, errors.New("the system does not tell the CPU time of a process: this runs on Linux"))
	}
	for _, name := range threads {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // the thread has ended
		}
		first, _, _ := strings.Cut(string(text), " ")
		n, err := strconv.ParseInt(first, 10, 64)
		if err != nil {
			return 0, fmt.Errorf("%s: %w", name, err)
		}
		total += time.Duration(n)
	}
	return total, nil
}
