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

// incident is one fault at one step of one flow.
type incident struct {
	mode *faultMode
	// operation is that of the step, by the name that Auth.js has for it.
	operation string
	// leave has the visitor's browser close the connection; gone is done when the case is over.
	leave func()
	gone  context.Context

	// yield lets the next case begin when this one has nothing to do but wait: a few at a time are under way.
	yield func()

	mu   sync.Mutex
	hits int
	down bool // nothing answers any more
}

// faultMode is a way to fail.
type faultMode struct {
	// happen does the operation of the step, or what happens in its place.
	happen func(i *incident, ctx context.Context, do func(context.Context) error) (blank bool, err error)
	// fails: the operation does not succeed, or does not seem to, so that nobody may be signed in.
	fails bool
	// everything: the store is in trouble from the step on, or for writes from the beginning.
	everything, writes bool
	// applied: what the store is asked for it does all the same.
	applied bool
	// leaves: no answer reaches the visitor.
	leaves bool
	// dies: nothing runs after it that would clean up.
	dies bool
	// waits: it takes real time, so cases run side by side.
	waits bool
}

// errEngine is what an engine in trouble says; the log must have it.
var errEngine = errors.New("engine: connection refused (marker-5a1)")

// limit is how long an incident waits for something that does not come, such as fiber's noticing that a browser left.
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

// faultModes are the ways to fail, by the words of the file.
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
			runtime.Goexit() // nothing of the request runs on
			return false, nil
		}}
	}},
}

// left has the visitor leave, and waits until the server notices, if it does.
func (i *incident) left(ctx context.Context) {
	i.leave()
	select {
	case <-ctx.Done():
	case <-i.gone.Done():
	case <-time.After(limit):
	}
}

func (i *incident) count() int { i.mu.Lock(); defer i.mu.Unlock(); return i.hits }

// written are the operations that write.
var written = regexp.MustCompile(`^(create|update|delete|link|unlink|use)`)

// trouble is the incident as the store meets it.
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

// storeFaults runs every step of every flow with the fault of the payload, on a store with transactions and on one
// without (docs/protocol.md §7.7, §15.3).
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

// runCases runs cases, side by side where they wait for time to pass.
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
