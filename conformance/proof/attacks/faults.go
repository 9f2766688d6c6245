package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// incident is one failure at one step of one flow.
type incident struct {
	mode *faultMode
	// operation is the step's operation, with Auth.js's name.
	operation string
	// leave closes the browser's connection. gone is done when the case is over.
	leave func()
	gone  context.Context

	// yield lets the next case start while this one only waits. Few cases run at the same time.
	yield func()

	mu   sync.Mutex
	hits int
	down bool // nothing responds any more
}

// faultMode is a kind of failure.
type faultMode struct {
	// happen runs the step's operation, or fails in its place.
	happen func(i *incident, ctx context.Context, do func(context.Context) error) (blank bool, err error)
	// fails: the operation fails or appears to fail, so no user may be signed in.
	fails bool
	// everything: all operations fail from this step on. writes: all writes fail from the beginning.
	everything, writes bool
	// applied: the store executes the operation although it reports a failure.
	applied bool
	// leaves: the client receives no response.
	leaves bool
	// dies: no cleanup runs afterwards.
	dies bool
	// waits: the failure takes real time, so these cases run in parallel.
	waits bool
}

// errEngine is the error of a failing database. The log must contain it.
var errEngine = errors.New("engine: connection refused (marker-5a1)")

// limit is the maximum time to wait for an event that may not occur, such as a disconnect that fiber does not notice.
const limit = 300 * time.Millisecond

var (
	failing = &faultMode{fails: true, happen: func(*incident, context.Context, func(context.Context) error) (bool, error) {
		return false, errEngine
	}}
	hanging = &faultMode{fails: true, waits: true,
		happen: func(i *incident, ctx context.Context, _ func(context.Context) error) (bool, error) {
			select {
			case <-ctx.Done():
				return false, ctx.Err()
			case <-i.gone.Done():
				return false, errEngine
			}
		}}
	panicking = &faultMode{
		fails: true,
		happen: func(*incident, context.Context, func(context.Context) error) (bool, error) {
			panic(errEngine)
		},
	}
)

// faultModes maps the file's words to failures.
var faultModes = []struct {
	pattern *regexp.Regexp
	make    func(m []string) *faultMode
}{
	{regexp.MustCompile(`^error$`), func([]string) *faultMode { return failing }},
	{regexp.MustCompile(`^hang$`), func([]string) *faultMode { return hanging }},
	{regexp.MustCompile(`^panic$`), func([]string) *faultMode { return panicking }},
	{regexp.MustCompile(`^slow (\d+) ?(ms|s)$`), func(m []string) *faultMode {
		d, _ := time.ParseDuration(m[1] + m[2])
		return &faultMode{waits: true, happen: func(
			i *incident, ctx context.Context, do func(context.Context) error,
		) (bool, error) {
			select {
			case <-ctx.Done():
			case <-time.After(d):
			}
			return false, do(ctx)
		}}
	}},
	{regexp.MustCompile(`^applied then (error|panic|hang)$`), func(m []string) *faultMode {
		after := map[string]*faultMode{"error": failing, "panic": panicking, "hang": hanging}[m[1]]
		return &faultMode{fails: true, applied: true, waits: after.waits, happen: func(
			i *incident, ctx context.Context, do func(context.Context) error,
		) (bool, error) {
			_ = do(ctx)
			return after.happen(i, ctx, do)
		}}
	}},
	{regexp.MustCompile(`^context cancelled (before|during)$`), func(m []string) *faultMode {
		return &faultMode{leaves: true, happen: func(
			i *incident, ctx context.Context, do func(context.Context) error,
		) (bool, error) {
			if m[1] == "before" {
				i.left(ctx)
				return false, do(ctx)
			}
			err := do(ctx)
			i.left(ctx)
			return false, errors.Join(err, ctx.Err())
		}}
	}},
	{regexp.MustCompile(`^nil result$`), func([]string) *faultMode {
		return &faultMode{happen: func(*incident, context.Context, func(context.Context) error) (bool, error) {
			return true, nil
		}}
	}},
	{regexp.MustCompile(`^not found$`), func([]string) *faultMode {
		return &faultMode{happen: func(*incident, context.Context, func(context.Context) error) (bool, error) {
			return false, core.ErrNotFound
		}}
	}},
	{regexp.MustCompile(`^duplicate key$`), func([]string) *faultMode {
		return &faultMode{happen: func(*incident, context.Context, func(context.Context) error) (bool, error) {
			return false, fmt.Errorf("engine: unique violation (marker-5a1): %w", core.ErrConflict)
		}}
	}},
	{regexp.MustCompile(`^(once|twice|(\d+) times)$`), func(m []string) *faultMode {
		times := map[string]int{"once": 1, "twice": 2}[m[1]]
		if m[2] != "" {
			times, _ = strconv.Atoi(m[2])
		}
		return &faultMode{happen: func(
			i *incident, ctx context.Context, do func(context.Context) error,
		) (bool, error) {
			if i.count() <= times {
				return false, errEngine
			}
			return false, do(ctx)
		}}
	}},
	{regexp.MustCompile(`^engine killed$|^pool exhausted$|^network cut$`), func([]string) *faultMode {
		return &faultMode{fails: true, everything: true, dies: true, happen: failing.happen}
	}},
	{regexp.MustCompile(`^read-only$|^disk full$`), func([]string) *faultMode {
		return &faultMode{writes: true, fails: true, happen: failing.happen}
	}},
	{regexp.MustCompile(`^process killed$`), func([]string) *faultMode {
		return &faultMode{leaves: true, dies: true, happen: func(
			i *incident, _ context.Context, _ func(context.Context) error,
		) (bool, error) {
			i.leave()
			runtime.Goexit() // nothing else of the request runs
			return false, nil
		}}
	}},
}

// left closes the browser's connection and waits until the server notices, if it does.
func (i *incident) left(ctx context.Context) {
	i.leave()
	select {
	case <-ctx.Done():
	case <-i.gone.Done():
	case <-time.After(limit):
	}
}

func (i *incident) count() int { i.mu.Lock(); defer i.mu.Unlock(); return i.hits }

// written matches the operations that write.
var written = regexp.MustCompile(`^(create|update|delete|link|unlink|use)`)

// trouble is the failure as the store's wrapper calls it.
func (i *incident) trouble(ctx context.Context, operation string, do func(context.Context) error) (bool, error) {
	i.mu.Lock()
	here := operation == i.operation
	if i.mode.writes {
		here = written.MatchString(operation)
	}
	if here {
		i.hits++
		i.down = i.down || i.mode.everything
	}
	here = here || i.down
	i.mu.Unlock()
	if !here {
		return false, do(ctx)
	}
	if i.mode.waits {
		i.yield()
	}
	return i.mode.happen(i, ctx, do)
}

// storeFaults runs every step of every flow with the payload's failure, on a store with transactions and on one without
// (docs/protocol.md §7.7, §15.3).
func storeFaults(a *attack) {
	var p struct{ ID, Mode, Why, Authjs string }
	a.read(&p)
	a.cleartext = true
	var mode *faultMode
	for _, known := range faultModes {
		if m := known.pattern.FindStringSubmatch(p.Mode); m != nil {
			mode = known.make(m)
		}
	}
	if mode == nil {
		a.failf("the mode %q is not known", p.Mode)
		return
	}
	if len(a.file.Flows) == 0 {
		a.failf("the file lists no flows")
	}
	var cases []*faultCase
	for _, flow := range slices.Sorted(maps.Keys(a.file.Flows)) {
		if faultFlows[flow] == nil {
			a.failf("the flow %q is not known", flow)
			continue
		}
		for _, step := range a.file.Flows[flow] {
			for _, transactions := range []bool{true, false} {
				cases = append(cases, &faultCase{flow: flow, step: step, transactions: transactions, mode: mode})
			}
		}
	}
	a.runCases(cases)
}

// runCases runs the cases, in parallel if they wait for time to pass.
func (a *attack) runCases(cases []*faultCase) {
	var all sync.WaitGroup
	turns := make(chan struct{}, 2)
	for _, c := range cases {
		c.attack = &attack{
			Context: a.Context, adapter: a.adapter, file: a.file, cleartext: true, nested: true,
		}
		one := func() { c.run(func(*attack) { c.play() }) }
		if !c.mode.waits {
			one()
			continue
		}
		turns <- struct{}{}
		c.yield = sync.OnceFunc(func() { <-turns })
		all.Go(func() {
			defer c.yield()
			one()
		})
	}
	all.Wait()
	for _, c := range cases {
		for _, problem := range c.problems {
			a.failf("%s, %s, transactions %v: %s", c.flow, c.step, c.transactions, strings.TrimSpace(problem))
		}
	}
}
