// Command load measures what the auth routes serve in a second, beside bare net/http handlers that write the same
// bytes: the server on one core, wrk on another, one after the other in the same run.
package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strconv"
	"time"
)

func main() {
	serving := flag.Bool("serve", false, "be the server, for another process of this program")
	seconds := flag.Int("seconds", 3, "length of a measurement")
	rounds := flag.Int("rounds", 3, "measurements of each target; the median counts")
	flag.Parse()
	run := func() error { return measure(context.Background(), os.Stdout, *seconds, *rounds) }
	if *serving {
		run = func() error { return serve(os.Stdout) }
	}
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// target is what is measured.
type target struct {
	Name, Path, Cookie string
	// Least is the part of the bare handler's rate that is wanted.
	Least float64
}

// served is what the server tells about itself.
type served struct {
	Address string
	Targets []target
}

// pinned is a command that runs on one core, where the system can pin it.
func pinned(ctx context.Context, core int, name string, args ...string) *exec.Cmd {
	if path, err := exec.LookPath("taskset"); err == nil {
		return exec.CommandContext(ctx, path, slices.Concat([]string{"-c", strconv.Itoa(core), name}, args)...)
	}
	return exec.CommandContext(ctx, name, args...)
}

func measure(ctx context.Context, out io.Writer, seconds, rounds int) error {
	wrk, err := exec.LookPath("wrk")
	if err != nil {
		return errors.New("wrk is not installed: apt-get install -y --no-install-recommends wrk")
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	server := pinned(ctx, 0, self, "-serve")
	server.Env, server.Stderr = append(os.Environ(), "GOMAXPROCS=1"), os.Stderr
	pipe, err := server.StdoutPipe()
	if err != nil {
		return err
	}
	if err := server.Start(); err != nil {
		return err
	}
	defer func() { _, _ = server.Process.Kill(), server.Wait() }()
	line, err := bufio.NewReader(pipe).ReadBytes('\n')
	if err != nil {
		return err
	}
	var s served
	if err := json.Unmarshal(line, &s); err != nil {
		return err
	}
	rate := func(path, cookie string) (float64, error) {
		text, err := pinned(ctx, 1, wrk, "-t1", "-c64", "-d"+strconv.Itoa(seconds)+"s",
			"-H", "Cookie: "+cookie, "http://"+s.Address+path).CombinedOutput()
		if err != nil {
			return 0, fmt.Errorf("%w: %s", err, text)
		}
		return read(text)
	}
	_, _ = fmt.Fprintf(out, "%-10s %12s %12s %8s %8s\n", "GET", "bare/s", "ours/s", "ratio", "wanted")
	var low []string
	for _, t := range s.Targets {
		var bare, ours []float64
		for range rounds {
			for path, into := range map[string]*[]float64{"/bare" + t.Path: &bare, t.Path: &ours} {
				r, err := rate(path, t.Cookie)
				if err != nil {
					return err
				}
				*into = append(*into, r)
			}
		}
		slices.Sort(bare)
		slices.Sort(ours)
		b, o := bare[len(bare)/2], ours[len(ours)/2]
		_, _ = fmt.Fprintf(out, "%-10s %12.0f %12.0f %8.2f %8.2f\n", t.Name, b, o, o/b, t.Least)
		if o/b < t.Least {
			low = append(low, t.Name)
		}
	}
	if len(low) > 0 {
		return fmt.Errorf("less than wanted: %v", low)
	}
	return nil
}

var perSecond = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)

// read takes the rate from what wrk prints. Answers that are no success, and broken connections, are no rate.
func read(text []byte) (float64, error) {
	if bytes.Contains(text, []byte("Non-2xx")) || bytes.Contains(text, []byte("Socket errors")) {
		return 0, fmt.Errorf("not all answers were good: %s", text)
	}
	m := perSecond.FindSubmatch(text)
	if m == nil {
		return 0, fmt.Errorf("wrk printed no rate: %s", text)
	}
	return strconv.ParseFloat(string(m[1]), 64)
}

// long is a lifetime that outlasts every measurement.
const long = 24 * time.Hour
