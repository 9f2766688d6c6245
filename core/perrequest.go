package core

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/mounts"
	"github.com/latchkey-go/latchkey/core/internal/tenants"
	"github.com/latchkey-go/latchkey/internal/random"
	"github.com/latchkey-go/latchkey/internal/reference"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// PerRequest returns an Auth that calls choose to find the Auth of each request, for example by host. Use it for
// tenants with separate providers and users. Adapters mount it at basePath, like any other Auth. Every Auth that choose
// returns must have this base path. If basePath is empty, any base path is allowed, and the result cannot be mounted by
// an adapter.
//
// If choose returns [ErrNoTenant], or an error that wraps it, the response has status 404, and the log gets a limited
// number of lines at level INFO. Any other error, a panic, and nil without an error are configuration errors; the
// response has status 500 without details.
//
// New derives keys, which is slow: choose must look up an existing Auth and not create one. It is called concurrently,
// once for each response. The hook and guard of one request share the result, so choose must depend on the request
// only.
//
// The Auth of PerRequest has no configuration. Methods without a request ([Auth.Refresh], [Auth.EncodeToken] and
// [Auth.DecodeToken]) return an error of type [ErrInvalidConfig]: call them on the Auth that choose returns.
//
// Auths with the same secret and the same session cookie accept each other's encrypted sessions: a user who signed in
// to one tenant is signed in to all of them. [Config.Audience] separates them. If choose returns two Auths that share
// sessions, the log has the warning "shared-sessions".
//
// Pass at most one PerRequestOptions.
func PerRequest(
	basePath string, choose func(ctx context.Context, r *Request) (*Auth, error), options ...PerRequestOptions,
) *Auth {
	var o PerRequestOptions
	if len(options) > 0 {
		o = options[0]
	}
	o.Logger = cmp.Or(o.Logger, slog.Default())
	if o.Now == nil {
		o.Now = time.Now //nolint:forbidigo // the default of the option
	}
	c := &chooser{basePath: basePath, choose: choose, options: o}
	a := &Auth{choose: c.resolve, site: &site{basePath: basePath}, router: &router{}, log: &reporter{logger: o.Logger}}
	c.mounted = &a.mounted
	return a
}

// PerRequestOptions are the optional settings of [PerRequest].
type PerRequestOptions struct {
	// Logger receives the errors of requests without a chosen Auth. The default is slog.Default().
	Logger *slog.Logger
	// Now is the clock. The default is time.Now.
	Now func() time.Time
}

// ErrNoTenant is the error that the function of [PerRequest] returns, or wraps, for a request that belongs to no
// tenant. Any client can send such a request with an invented host. The response has status 404.
var ErrNoTenant = errors.New("core: no tenant for this request")

// chooserError is the error of a request if choosing its Auth failed.
type chooserError struct {
	error
	logger *slog.Logger
	// quiet means that the log has had enough lines of this kind.
	quiet bool
}

func (e *chooserError) Unwrap() error { return e.error }

// chooser calls the function of PerRequest, and remembers its results.
type chooser struct {
	basePath string
	choose   func(ctx context.Context, r *Request) (*Auth, error)
	options  PerRequestOptions
	mounted  *mounts.State // state of the Auth of PerRequest
	known    tenants.Known // the Auths that were checked for shared sessions
	unknown  tenants.Lines // limit for requests without a tenant
}

func (c *chooser) resolve(ctx context.Context, r *Request) (*Auth, error) {
	a, err := c.find(ctx, r)
	if err != nil {
		quiet := errors.Is(err, ErrNoTenant) && !c.unknown.Allow(c.options.Now())
		return nil, &chooserError{err, c.options.Logger, quiet}
	}
	if c.mounted.Registered() {
		a.mounted.Register()
	}
	return a, nil
}

func (c *chooser) find(ctx context.Context, r *Request) (*Auth, error) {
	a, err := guarded("configuration function", func() (*Auth, error) { return c.choose(ctx, r) })
	switch {
	case err != nil:
		return nil, fmt.Errorf("configuration function: %w", err)
	case a == nil:
		return nil, errors.New("configuration function: it returned neither an Auth nor an error")
	case a.site == nil:
		return nil, errorf(ErrInvalidConfig, "configuration function: it returned an Auth that New did not create")
	case a.choose != nil:
		return nil, errorf(ErrInvalidConfig, "configuration function: it returned an Auth of PerRequest: "+
			"return one that New created")
	case c.basePath != "" && a.site.basePath != c.basePath:
		return nil, errorf(ErrInvalidConfig, "the Auth for this request has the base path %q, and PerRequest has %q: "+
			"set the Auth's Config.BasePath to %q", a.site.basePath, c.basePath, c.basePath)
	}
	if c.known.Add(&a.realm) {
		a.warnShared(ctx)
	}
	return a, nil
}

// withoutAuth returns a call and pages for a request that no Auth could be selected for. They have the parts of the
// configuration that are known.
func withoutAuth(r *Request, err error) (*call, *pages, *ConfigError) {
	var faults *ConfigError
	if !errors.As(err, &faults) {
		cause := err
		if errors.Is(err, ErrNoTenant) {
			cause = errormarks.ByClient(err)
		}
		faults = &ConfigError{Problems: []*Error{errorf(ErrInvalidConfig, "%w", cause)}}
	}
	c := Config{Pages: faults.pages, Theme: faults.theme, Views: faults.views, Logger: faults.logger}
	var chosen *chooserError
	if c.Logger == nil && errors.As(err, &chosen) {
		c.Logger = chosen.logger
	}
	defaults(&c)
	base := cmp.Or(faults.basePath, "/auth")
	site := &site{basePath: base, publicBase: base, rand: c.Rand, log: &reporter{logger: c.Logger}}
	id, _ := random.Bytes(c.Rand, reference.Len) // crypto/rand never fails
	arrival := arrival{site: site, r: r, place: site.placeOf(weburl.Origin{}), misconfigured: reference.Of(id)}
	return &call{arrival: arrival}, newPages(&c, nil), faults
}

func logAll(ctx context.Context, v *arrival, faults *ConfigError) {
	var chosen *chooserError
	if errors.As(faults, &chosen) && chosen.quiet {
		return
	}
	for _, p := range faults.Problems {
		v.log.failure(ctx, p, v.attrs()...)
	}
}
