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

// mode is a kind of failure of a store call.
type mode struct {
	name string
	// happen runs the call or fails instead. If blank is true, the call returns a zero result and no error.
	happen func(ctx context.Context, i *incident, do func(context.Context) error) (blank bool, err error)
	// fails is set if the call fails or appears to fail.
	fails bool
	// onwards is set if all later calls fail too. writes is set if all calls that write fail, from the first one on.
	onwards, writes bool
	// applied is set if the database executed the call.
	applied bool
	// leaves is set if no response reaches the client. dies is set if no cleanup code runs either.
	leaves, dies bool
	// hangs is set if the call ends by Config.StoreTimeout.
	hangs bool
}

// errEngine is the error of a failing database.
var errEngine = errors.New("engine: connection refused (marker-5a1)")

const (
	// hangFor is the timeout of hanging calls. slow is the duration of a slow call, and slowFor its timeout.
	hangFor, slow = 40 * time.Millisecond, 60 * time.Millisecond
	slowFor       = 20 * time.Second
	// patientFor replaces hangFor on stores without transactions, where the effect of a call stays. On a busy machine,
	// other calls than the hanging one could exceed hangFor, and the database would be interrupted in them.
	patientFor = 2 * time.Second
)

func refused(context.Context, *incident, func(context.Context) error) (bool, error) {
	return false, errEngine
}

func hang(ctx context.Context, _ *incident, _ func(context.Context) error) (bool, error) {
	<-ctx.Done()
	return false, ctx.Err()
}

// modes are the kinds of failures.
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
			runtime.Goexit() // nothing else of the request runs
			return false, nil
		}},
	{name: "pool exhausted", fails: true, onwards: true, hangs: true, dies: true, happen: hang},
	{name: "read-only", fails: true, writes: true, happen: refused},
}

// incident is one failure at one store call. Without a mode it only counts the calls.
type incident struct {
	mu    sync.Mutex
	mode  *mode
	step  int // the number of the call since begin
	leave func()
	names []string
	hits  int
	down  bool
	// uses is set if the flow includes the update of a session's last use. Otherwise that call never fails, because it
	// runs concurrently with the request.
	uses bool
}

// begin starts to count the calls, and makes one of them fail.
func (i *incident) begin(m *mode, step int, leave func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.mode, i.step, i.leave, i.names, i.hits, i.down = m, step, leave, nil, 0, false
}

// end stops the failure, and returns the names of the calls and the number of calls that failed.
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

// meet is called for each store call.
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
	if m != nil && m.name == "once" { // the second call with the same name is a retry
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
