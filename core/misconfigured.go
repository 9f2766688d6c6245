package core

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// misconfigured answers a request for which no Auth could be chosen: the error page without details for page actions,
// JSON for the others. The faults go to the log.
func misconfigured(ctx context.Context, r *Request, err error) *Response {
	c, pages, faults := withoutAuth(r, err)
	to, err := c.route(r)
	c.action, c.query = to.action, to.query
	if err != nil {
		return finish(r, pages.fail(ctx, c, err, nil))
	}
	return finish(r, refuseAll(ctx, c, pages, faults))
}

// withoutAuth is the call of a request for which no Auth could be chosen, and the pages that answer it, with what
// little is known of the configuration.
func withoutAuth(r *Request, err error) (*call, *pages, *ConfigError) {
	var faults *ConfigError
	if !errors.As(err, &faults) {
		unknown := errorf(ErrInvalidConfig, "%w", err)
		faults = &ConfigError{Problems: []*Error{unknown}, views: ui.Views{}.WithDefaults()}
	}
	c := Config{Logger: faults.logger, Theme: faults.theme, Pages: faults.pages, Views: faults.views}
	defaults(&c)
	base := or(faults.basePath, "/auth")
	site := &site{basePath: base, publicBase: base, rand: c.Rand, log: &reporter{logger: c.Logger}}
	arrival := arrival{site: site, r: r, place: site.placeOf(weburl.Origin{}), misconfigured: randomReference(c.Rand)}
	return &call{arrival: arrival}, newPages(&c, nil), faults
}

// refuseAll logs the faults of a configuration and answers with status 500.
func refuseAll(ctx context.Context, c *call, pages *pages, faults *ConfigError) *Response {
	logAll(ctx, &c.arrival, faults)
	return pages.serverError(ctx, c, &Response{Err: faults})
}

func logAll(ctx context.Context, v *arrival, faults *ConfigError) {
	for _, p := range faults.Problems {
		v.log.failure(ctx, p, v.attrs()...)
	}
}
