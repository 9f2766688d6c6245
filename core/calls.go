package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/internal/cookie"
)

// CallRule decides who may call an RPC procedure or an operation of an API. Create one with [PublicCall], [SessionCall]
// or [PrincipalCall]. The zero value refuses all calls.
type CallRule struct {
	check            func(v *Visit) *Response
	public, programs bool
}

// Check returns the response to a request that the rule does not allow, or nil.
func (r CallRule) Check(v *Visit) *Response {
	if r.check == nil {
		problem := &Problem{Status: http.StatusForbidden, Code: "no_rule", Detail: "The server has no rule for this call."}
		return v.problemResponse(problem, problem)
	}
	return r.check(v)
}

// Public reports whether the rule allows all calls.
func (r CallRule) Public() bool { return r.public }

// Programs reports whether the rule accepts the credentials of plugins, such as API keys.
func (r CallRule) Programs() bool { return r.programs }

// PublicCall returns a rule that allows all calls. The procedure can still read the session or the principal.
func PublicCall() CallRule {
	return CallRule{func(*Visit) *Response { return nil }, true, true}
}

// SessionCall returns a rule for signed-in users whom all guards allow, as [Visit.Require] does.
func SessionCall(guards ...Guard) CallRule {
	guards = slices.Clone(guards)
	return CallRule{check: func(v *Visit) *Response {
		_, refusal := v.Require(guards...)
		return refusal
	}}
}

// PrincipalCall returns a rule for users and for programs with the credential of a plugin, such as an API key, whom all
// guards allow, as [Visit.RequirePrincipal] does.
func PrincipalCall(guards ...PrincipalGuard) CallRule {
	guards = slices.Clone(guards)
	return CallRule{programs: true, check: func(v *Visit) *Response {
		_, refusal := v.RequirePrincipal(guards...)
		return refusal
	}}
}

// CallOptions are the rules of an RPC server, for the adapters connect and grpc.
type CallOptions struct {
	// Rules are the rules by procedure, such as "/orders.v1.Orders/List". The name "/orders.v1.Orders/*" is for all other
	// procedures of the service. Those of health checks and reflection need a rule too, such as [PublicCall] for
	// "/grpc.health.v1.Health/*".
	Rules map[string]CallRule
	// Default is the rule of all other procedures. The zero value refuses all calls, for everyone.
	Default CallRule
	// Recheck is the time after which a stream checks its rule again. It ends when the rule no longer allows it, for
	// example because the user signed out or the session has expired. The default is 30 seconds, and the minimum one
	// second. Each stream makes one check at a time, at a random moment in the second half of each period.
	Recheck time.Duration
}

// Calls checks the calls of an RPC server. Adapters create it with [Auth.Calls]. It is safe for concurrent use.
type Calls struct {
	auth    *Auth
	options CallOptions
}

const (
	defaultRecheck = 30 * time.Second
	// maxUnchecked is the number of periods without a successful check until a stream ends.
	maxUnchecked = 3
)

// Calls returns the Calls of an RPC server. methods returns the names of the methods of a service, or nil if it does
// not know the service. A rule for an unknown procedure is an error if another rule would apply instead of it, because
// of a misspelled name.
func (a *Auth) Calls(o CallOptions, methods func(service string) []string) (*Calls, error) {
	if o.Recheck == 0 {
		o.Recheck = defaultRecheck
	}
	if o.Recheck < time.Second {
		return nil, fmt.Errorf("core: CallOptions.Recheck is %s: use one second or more", o.Recheck)
	}
	rules := make(map[string]CallRule, len(o.Rules))
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
			faults = append(faults, fmt.Errorf("core: CallOptions.Rules: %q is not a procedure: "+
				`use a name such as "/orders.v1.Orders/List" or "/orders.v1.Orders/*"`, name))
		case known == nil && wide, known != nil && method != "*" && !slices.Contains(known, method):
			faults = append(faults, fmt.Errorf("core: CallOptions.Rules: the program has no procedure %q", name))
		}
	}
	o.Rules = rules
	return &Calls{a, o}, errors.Join(faults...)
}

// splitProcedure splits "/orders.v1.Orders/List". The parts are empty if the name has another form.
func splitProcedure(name string) (service, method string) {
	service, method, ok := strings.Cut(strings.TrimPrefix(name, "/"), "/")
	if !ok || name[0] != '/' || strings.Contains(method, "/") {
		return "", ""
	}
	return service, method
}

func (c *Calls) rule(procedure string) CallRule {
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

// Call is an RPC call that its rule allowed. It is the context of the procedure: [SessionFrom] and [PrincipalFrom]
// work with it.
type Call struct {
	*Visit
	calls     *Calls
	procedure string
}

// Start checks a call. It returns the error to send to the client if the procedure's rule does not allow it. The
// adapter commits the Call as a [Visit].
//
// Scripts of other sites can make a browser send cookies with a call. So the cookies count only if the header Origin or
// Sec-Fetch-Site says that a page of this site, or of Config.TrustedOrigins, made the call. Programs use Authorization
// instead.
func (c *Calls) Start(ctx context.Context, r *Request, procedure string) (*Call, *CallError) {
	return c.start(ctx, r, procedure, false)
}

func (c *Calls) start(ctx context.Context, r *Request, procedure string, again bool) (*Call, *CallError) {
	v := c.auth.Visit(ctx, r)
	v.at.program, v.again = true, again
	if v.refused == nil && !v.at.fromOwnPage() {
		v.at.foreign = v.at.presentsSession() && !v.at.byBearer()
		v.at.jar = cookie.Jar{}
	}
	call := &Call{v, c, procedure}
	refusal := c.rule(procedure).Check(v)
	if refusal == nil {
		return call, nil
	}
	if v.at.foreign && refusal.Status == http.StatusUnauthorized {
		problem := &Problem{
			Status: http.StatusForbidden, Code: "cross_origin",
			Detail: "The session cookie is accepted only in calls of this site's own pages.",
		}
		refusal = v.problemResponse(problem, problem)
	}
	return call, callError(refusal)
}

// fromOwnPage reports whether a page of this site, or of a trusted origin, made a call according to the browser. A
// header with two values is not trusted: a gateway may have added the second one.
func (v *arrival) fromOwnPage() bool {
	origins, sites := v.r.Header["Origin"], v.r.Header["Sec-Fetch-Site"]
	switch {
	case len(origins) > 1, len(sites) > 1:
		return false
	case v.trustedOrigin() != "":
		return true
	case len(origins) == 1 && origins[0] != v.origin, len(sites) == 1 && sites[0] != "same-origin":
		return false
	}
	return len(origins)+len(sites) > 0
}

// Watch returns a context for a stream. It is derived from ctx, which is the Call or derived from it, and is canceled
// with a [*CallError] as its cause when the rule no longer allows the call. While the store is unavailable, the stream
// continues for three periods of CallOptions.Recheck. Call stop when the stream has ended.
func (c *Call) Watch(ctx context.Context) (watched context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	if !c.calls.rule(c.procedure).public {
		r := *c.at.r
		r.Header, r.Body = r.Header.Clone(), nil // the procedure may change its header
		go c.watch(ctx, &r, cancel)
	}
	return ctx, func() { cancel(context.Canceled) }
}

func (c *Call) watch(ctx context.Context, r *Request, end context.CancelCauseFunc) {
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

// CallError is the refusal of an RPC call.
type CallError struct {
	// Code is the status code of gRPC and Connect: 16 (unauthenticated), 7 (permission denied), 8 (resource exhausted),
	// 14 (unavailable) or 13 (internal).
	Code uint32
	// Reason identifies the problem for programs, for example "reauth_required".
	Reason string
	// Message is a sentence for users.
	Message string
	// Problem is the problem document (RFC 9457). That of a step-up has the members maxAge, strong and acrValues.
	Problem map[string]any
	// Challenge is the value of WWW-Authenticate (RFC 6750 section 3, RFC 9470 section 3). It may be empty.
	Challenge string
	// RetryAfter is the time to wait before the next call. Zero means that the server does not know.
	RetryAfter time.Duration

	cause error
}

// Error returns the reason and the message.
func (e *CallError) Error() string { return e.Reason + ": " + e.Message }

// Unwrap returns the cause.
func (e *CallError) Unwrap() error { return e.cause }

// Known reports whether the call was refused because of its credentials, not because they could not be checked.
func (e *CallError) Known() bool { return e.Code == 16 || e.Code == 7 }

// callError returns the error for a response to a program.
func callError(r *Response) *CallError {
	e := &CallError{Challenge: r.Header.Get("Www-Authenticate"), cause: r.Err}
	switch r.Status {
	case http.StatusUnauthorized, http.StatusBadRequest: // a malformed credential
		e.Code = 16
	case http.StatusForbidden, http.StatusNotFound: // no tenant
		e.Code = 7
	case http.StatusTooManyRequests:
		e.Code, e.Reason, e.Message = 8, "too_many_requests", "There were too many calls. Try again later."
	case http.StatusServiceUnavailable:
		e.Code, e.Reason, e.Message = 14, "unavailable", "The service is busy. Try again in a moment."
	default:
		e.Code, e.Reason, e.Message = 13, "server_error", "The server could not check the call."
	}
	if wait, err := strconv.Atoi(r.Header.Get("Retry-After")); err == nil {
		e.RetryAfter = time.Duration(wait) * time.Second
	}
	_ = json.Unmarshal(r.Body, &e.Problem) // if it is no document, Problem gets its members below
	if e.Problem == nil {
		e.Problem = map[string]any{}
	}
	text := func(name string) string { value, _ := e.Problem[name].(string); return value }
	e.Reason = or(text("code"), or(e.Reason, "not_found"))
	e.Message = or(text("detail"), or(e.Message, http.StatusText(r.Status)))
	delete(e.Problem, "message")
	e.Problem["status"], e.Problem["code"] = float64(r.Status), e.Reason
	return e
}
