package access

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// Options are the rules of an RPC server, for the adapters connect and grpc.
type Options struct {
	// Rules are the rules by procedure, such as "/orders.v1.Orders/List". The name "/orders.v1.Orders/*" is for all other
	// procedures of the service. Those of health checks and reflection need a rule too, such as [Public] for
	// "/grpc.health.v1.Health/*".
	Rules map[string]Rule
	// Default is the rule of all other procedures. The zero value refuses all calls, for everyone.
	Default Rule
	// Recheck is the time after which a stream checks its rule again. It ends when the rule no longer allows it, for
	// example because the user signed out or the session has expired. The default is 30 seconds, and the minimum one
	// second. Each stream makes one check at a time, at a random moment in the second half of each period.
	Recheck time.Duration
}

// Calls checks the calls of an RPC server. Adapters create it with [New]. It is safe for concurrent use.
type Calls struct {
	auth    *core.Auth
	options Options
}

const (
	defaultRecheck = 30 * time.Second
	// maxUnchecked is the number of periods without a successful check until a stream ends.
	maxUnchecked = 3
)

// New returns the Calls of an RPC server. methods returns the names of the methods of a service, or nil if it does
// not know the service. A rule for an unknown procedure is an error if another rule would apply instead of it, because
// of a misspelled name.
func New(auth *core.Auth, o Options, methods func(service string) []string) (*Calls, error) {
	if o.Recheck == 0 {
		o.Recheck = defaultRecheck
	}
	if o.Recheck < time.Second {
		return nil, fmt.Errorf("access: Options.Recheck is %s: use one second or more", o.Recheck)
	}
	rules := make(map[string]Rule, len(o.Rules))
	wide := o.Default.check != nil
	for name, rule := range o.Rules {
		rules[name], wide = rule, wide || strings.HasSuffix(name, "/*")
	}
	var faults []error
	for name := range rules {
		service, method := splitProcedure(name)
		known := methods(service)
		switch {
		case service == "" || method == "":
			faults = append(faults, fmt.Errorf("access: Options.Rules: %q is not a procedure: "+
				`use a name such as "/orders.v1.Orders/List" or "/orders.v1.Orders/*"`, name))
		case known == nil && wide, known != nil && method != "*" && !slices.Contains(known, method):
			faults = append(faults, fmt.Errorf("access: Options.Rules: the program has no procedure %q", name))
		}
	}
	o.Rules = rules
	return &Calls{auth, o}, errors.Join(faults...)
}

// splitProcedure splits "/orders.v1.Orders/List". The parts are empty if the name has another form.
func splitProcedure(name string) (service, method string) {
	service, method, ok := strings.Cut(strings.TrimPrefix(name, "/"), "/")
	if !ok || name[0] != '/' || strings.Contains(method, "/") {
		return "", ""
	}
	return service, method
}

func (c *Calls) rule(procedure string) Rule {
	if rule, ok := c.options.Rules[procedure]; ok {
		return rule
	}
	if service, _ := splitProcedure(procedure); service != "" {
		if rule, ok := c.options.Rules["/"+service+"/*"]; ok {
			return rule
		}
	}
	return c.options.Default
}

// Call is an RPC call that its rule allowed. It is the context of the procedure: [core.SessionFrom] and
// [core.PrincipalFrom] work with it.
type Call struct {
	*core.Visit
	calls     *Calls
	request   *core.Request
	procedure string
}

// Start checks a call. It returns the error to send to the client if the procedure's rule does not allow it. The
// adapter commits the Call as a [core.Visit], also after a refusal. The session cookie counts only in calls of this
// site's own pages, see [core.Auth.VisitCall].
func (c *Calls) Start(ctx context.Context, r *core.Request, procedure string) (*Call, *Error) {
	return c.start(ctx, r, procedure, false)
}

func (c *Calls) start(ctx context.Context, r *core.Request, procedure string, again bool) (*Call, *Error) {
	v := c.auth.VisitCall(ctx, r, again)
	if refusal := c.rule(procedure).Check(v); refusal != nil {
		return &Call{v, c, r, procedure}, errorOf(refusal)
	}
	return &Call{v, c, r, procedure}, nil
}

// Watch returns a context for a stream. It is derived from ctx, which is the Call or derived from it, and is canceled
// with a [*Error] as its cause when the rule no longer allows the call. While the store is unavailable, the stream
// continues for three periods of Options.Recheck. Call stop when the stream has ended.
func (c *Call) Watch(ctx context.Context) (watched context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if !c.calls.rule(c.procedure).public {
		r := *c.request
		r.Header, r.Body = r.Header.Clone(), nil // the procedure may change its header
		go c.watch(ctx, &r, cancel)
	}
	return ctx, func() { cancel(context.Canceled) }
}

func (c *Call) watch(ctx context.Context, r *core.Request, end context.CancelCauseFunc) {
	period := c.calls.options.Recheck
	for unchecked := time.Duration(0); ; {
		wait := period/2 + rand.N(period/2+1) //nolint:gosec // no secret
		timer := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-timer.C:
		}
		limited, cancel := context.WithTimeout(c.Context, period)
		_, refusal := c.calls.start(limited, r, c.procedure, true)
		cancel()
		if unchecked += wait; refusal == nil {
			unchecked = 0
		} else if refusal.Known() || unchecked >= maxUnchecked*period {
			end(refusal)
			return
		}
	}
}
