package faults

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// mode is a way in which a call of the store fails.
type mode struct {
	name string
	// happen does the call, or what happens in its place. blank: it answers nothing and no error.
	happen func(ctx context.Context, i *incident, do func(context.Context) error) (blank bool, err error)
	// fails: the call does not succeed, or does not seem to.
	fails bool
	// onwards: the trouble goes on with all later calls. writes: calls that write fail, from the first on.
	onwards, writes bool
	// applied: the engine has done what it was asked for.
	applied bool
	// leaves: no answer reaches the visitor. dies: nor does anything run that would clean up.
	leaves, dies bool
	// hangs: the deadline of Config.StoreTimeout ends it.
	hangs bool
}

// errEngine is what an engine in trouble says.
var errEngine = errors.New("engine: connection refused (marker-5a1)")

const (
	// hangFor is the deadline of calls that hang, slow how long a slow call takes, and slowFor the deadline of that one.
	hangFor, slow = 40 * time.Millisecond, 60 * time.Millisecond
	slowFor       = 20 * time.Second
	// patientFor is the deadline in place of hangFor on stores without transactions, where what a call has done stays: on
	// a busy machine others would meet hangFor than the one that hangs, and the engine be interrupted in them.
	patientFor = 2 * time.Second
)

func refused(context.Context, *incident, func(context.Context) error) (bool, error) {
	return false, errEngine
}

func hang(ctx context.Context, _ *incident, _ func(context.Context) error) (bool, error) {
	<-ctx.Done()
	return false, ctx.Err()
}

// modes are the ways to fail.
var modes = []*mode{
	{name: "error", fails: true, happen: refused},
	{name: "hang", fails: true, hangs: true, happen: hang},
	{name: "slow", happen: func(ctx context.Context, _ *incident, do func(context.Context) error) (bool, error) {
		select {
		case <-ctx.Done():
		case <-time.After(slow):
		}
		return false, do(ctx)
	}},
	{name: "panic", fails: true, happen: func(context.Context, *incident, func(context.Context) error) (bool, error) {
		panic(errEngine)
	}},
	{name: "applied then error", fails: true, applied: true,
		happen: func(ctx context.Context, _ *incident, do func(context.Context) error) (bool, error) {
			_ = do(ctx)
			return false, errEngine
		}},
	{name: "context cancelled before", leaves: true,
		happen: func(ctx context.Context, i *incident, do func(context.Context) error) (bool, error) {
			i.leave()
			return false, do(ctx)
		}},
	{name: "context cancelled during", leaves: true,
		happen: func(ctx context.Context, i *incident, do func(context.Context) error) (bool, error) {
			err := do(ctx)
			i.leave()
			return false, errors.Join(err, ctx.Err())
		}},
	{name: "nil result", happen: func(context.Context, *incident, func(context.Context) error) (bool, error) {
		return true, nil
	}},
	{name: "duplicate key", happen: func(context.Context, *incident, func(context.Context) error) (bool, error) {
		return false, fmt.Errorf("engine: unique violation (marker-5a1): %w", core.ErrConflict)
	}},
	{name: "once", happen: func(ctx context.Context, i *incident, do func(context.Context) error) (bool, error) {
		if i.met() == 1 {
			return false, errEngine
		}
		return false, do(ctx)
	}},
	{name: "engine killed", fails: true, onwards: true, dies: true, happen: refused},
	{name: "process killed", leaves: true, dies: true,
		happen: func(_ context.Context, i *incident, _ func(context.Context) error) (bool, error) {
			i.leave()
			runtime.Goexit() // nothing of the request runs on
			return false, nil
		}},
	{name: "pool exhausted", fails: true, onwards: true, hangs: true, dies: true, happen: hang},
	{name: "read-only", fails: true, writes: true, happen: refused},
}

// incident is one fault at one call of the store. Without a mode it counts.
type incident struct {
	mu    sync.Mutex
	mode  *mode
	step  int // which call it is, of those since begin
	leave func()
	names []string
	hits  int
	down  bool
	// uses: noting the last use of a session is of the flow. Otherwise it is let through: it happens beside the request,
	// sooner or later than any call of it.
	uses bool
}

// begin has the next calls counted, and trouble at one of them.
func (i *incident) begin(m *mode, step int, leave func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.mode, i.step, i.leave, i.names, i.hits, i.down = m, step, leave, nil, 0, false
}

// end ends the trouble, and returns the calls and how many met it.
func (i *incident) end() (names []string, hits int) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.mode = nil
	return i.names, i.hits
}

func (i *incident) met() int { i.mu.Lock(); defer i.mu.Unlock(); return i.hits }

var (
	writing = regexp.MustCompile(`^(create|update|delete|link|unlink|use) `)
	lastUse = regexp.MustCompile(`^(read|update) record session$`)
)

// meet is one call.
func (i *incident) meet(ctx context.Context, name string, do func(context.Context) error) (bool, error) {
	if !i.uses && lastUse.MatchString(name) {
		return false, do(ctx)
	}
	i.mu.Lock()
	m := i.mode
	here := m != nil && len(i.names) == i.step
	i.names = append(i.names, name)
	if m != nil && m.writes {
		here = len(i.names) > i.step && writing.MatchString(name)
	}
	if m != nil && m.name == "once" { // the same call a second time is a retry
		here = len(i.names) > i.step && name == i.names[i.step]
	}
	if here {
		i.hits++
		i.down = i.down || m.onwards
	}
	here = here || m != nil && i.down
	i.mu.Unlock()
	if !here {
		return false, do(ctx)
	}
	return m.happen(ctx, i, do)
}
