package core

import (
	"context"
	"errors"
	"log/slog"

	"github.com/latchkey-go/latchkey/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// misconfigured returns the response to a request if no Auth could be selected for it: the error page, without details,
// or JSON if the action has no pages. The configuration errors are logged.
func misconfigured(ctx context.Context, r *Request, err error) *Response {
	c, pages, faults := withoutAuth(r, err)
	if errors.Is(faults, ErrNoTenant) {
		return c.refer(finish(r, refuseAll(ctx, c, pages, faults)))
	}
	to, err := c.route(r)
	c.action, c.query = to.action, to.query
	if err != nil {
		return c.refer(finish(r, pages.fail(ctx, c, err, nil)))
	}
	return c.refer(finish(r, refuseAll(ctx, c, pages, faults)))
}

// withoutAuth returns a call and pages for a request that no Auth could be selected for. They have the parts of the
// configuration that are known.
func withoutAuth(r *Request, err error) (*call, *pages, *ConfigError) {
	var faults *ConfigError
	var chosen *chooserError
	logger := slog.Default()
	if errors.As(err, &chosen) {
		logger = chosen.logger
	}
	if !errors.As(err, &faults) {
		unknown := errorf(ErrInvalidConfig, "%w", err)
		if errors.Is(err, ErrNoTenant) {
			unknown = errorf(ErrInvalidConfig, "%w", mistake(err))
		}
		faults = &ConfigError{Problems: []*Error{unknown}, views: ui.Views{}.WithDefaults()}
	}
	if faults.logger == nil {
		faults.logger = logger
	}
	c := Config{Logger: faults.logger, Theme: faults.theme, Pages: faults.pages, Views: faults.views}
	defaults(&c)
	base := or(faults.basePath, "/auth")
	site := &site{basePath: base, publicBase: base, rand: c.Rand, log: &reporter{logger: c.Logger}}
	arrival := arrival{site: site, r: r, place: site.placeOf(weburl.Origin{}), misconfigured: randomReference(c.Rand)}
	return &call{arrival: arrival}, newPages(&c, nil), faults
}

// refuseAll logs the configuration errors and responds with status 500, or 404 to a request without a tenant.
func refuseAll(ctx context.Context, c *call, pages *pages, faults *ConfigError) *Response {
	logAll(ctx, &c.arrival, faults)
	response := &Response{Err: faults}
	if errors.Is(faults, ErrNoTenant) {
		return pages.notFound(ctx, &c.arrival, response)
	}
	return pages.serverError(ctx, c, response)
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
