// Command load measures the cost of the auth routes, on four routers and with several stores: the CPU time of a
// request, as measured by the operating system, and requests per second. It also measures a baseline, which does the
// least work for the same responses, and plain handlers.
//
// The server runs on one core, wrk and the provider on the other. Each server is measured right after the plain handler
// of its router. The net/http server takes turns with the baseline. The result is a ratio of CPU times, which does not
// change on a busy machine, unlike the throughput.
package main

import (
	"bufio"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

func main() {
	serving := flag.String("serve", "", "run as this server, for another process of this program")
	store := flag.String("store", "", "session store of the server")
	provider := flag.String("provider", "", "address of the server's provider")
	dir := flag.String("dir", "", "folder of the server's files")
	seconds := flag.Int("seconds", 2, "length of a measurement")
	rounds := flag.Int("rounds", 3, "measurements of each path; the median counts")
	only := flag.String("only", "", "servers and paths to measure, by a regular expression: ^stdlib start/")
	profiles := flag.String("profiles", "", "folder for a CPU profile of each measured server")
	growth := flag.Bool("growth", false, "measure with increasing numbers of connections and cores")
	strict := flag.Bool("strict", os.Getenv("STRICT") == "1", "fail if a path is slower than wanted")
	flag.Parse()
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt)
	defer cancel()
	run := func() error {
		chosen, err := regexp.Compile(*only)
		if err != nil {
			return err
		}
		m := &measurement{
			out: os.Stdout, seconds: *seconds, rounds: *rounds, only: chosen, strict: *strict, profiles: *profiles,
		}
		if *growth {
			return m.grow(ctx)
		}
		return m.run(ctx, reachable())
	}
	if *serving != "" {
		run = func() error {
			return profiled(*profiles, *serving+*store, func() error {
				return serve(ctx, os.Stdout, *serving, *store, *provider, *dir)
			})
		}
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1) //nolint:gocritic // nothing is left to undo
	}
}

// The cores: one for the measured server, the other for everything else.
const (
	serverCore = "0"
	otherCore  = "1"
	bothCores  = "0,1"
)

// pinned returns a command that runs on these cores, if the system supports it.
func pinned(ctx context.Context, cores, name string, args ...string) *exec.Cmd {
	if path, err := exec.LookPath("taskset"); err == nil {
		return exec.CommandContext(ctx, path, slices.Concat([]string{"-c", cores, name}, args)...)
	}
	return exec.CommandContext(ctx, name, args...)
}

// process is a running server process of this program.
type process struct {
	*exec.Cmd
	address string
}

// start runs this program as a server on these cores. The server writes a CPU profile to the folder profiles, unless
// profiles is empty.
func start(ctx context.Context, cores string, s server, provider, dir, profiles string) (*process, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	p := &process{Cmd: pinned(ctx, cores, self, "-serve", s.Name, "-store", s.Store, "-provider", provider, "-dir", dir,
		"-profiles", profiles)}
	p.Env, p.Stderr = append(os.Environ(), "GOMAXPROCS="+strconv.Itoa(1+strings.Count(cores, ","))), os.Stderr
	pipe, err := p.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := p.Start(); err != nil {
		return nil, err
	}
	line, err := bufio.NewReader(pipe).ReadString('\n')
	if err != nil {
		p.stop()
		return nil, fmt.Errorf("%s %s does not start: %w", s.Name, s.Store, err)
	}
	p.address = strings.TrimSpace(line)
	return p, nil
}

func (p *process) stop() { _, _ = p.Process.Signal(os.Interrupt), p.Wait() }

// origin returns the URL of a process.
func (p *process) origin() string { return "http://" + p.address }

// row is the measurement of a path.
type row struct {
	server, store, path string
	cpu, rate           float64 // microseconds for each request, requests per second; medians
	share               float64 // relative to the plain handler, by CPU time
	ofFloor             float64 // relative to the baseline in turns with it; zero if not measured
}

func (r *row) name() string {
	name := r.server + " " + r.path
	if r.store != "" {
		name += "/" + r.store
	}
	return name
}

func (r *row) print(out io.Writer, least float64) {
	ofFloor, want := "", ""
	if r.ofFloor > 0 {
		ofFloor = fmt.Sprintf("%.2f", r.ofFloor)
	}
	if least > 0 {
		want = fmt.Sprintf("%.2f", least)
	}
	_, _ = fmt.Fprintf(out, "%-26s %10.1f %10.0f %8.3f %9s %7s\n", r.name(), r.cpu, r.rate, r.share, ofFloor, want)
}
