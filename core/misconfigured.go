package core

import (
	"context"
	"errors"
	"net/http"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

const configMessage = "There was a problem with the server configuration. Check the server logs for more information."

// misconfigured answers a request for which no Auth could be chosen: the error page without details for page actions, JSON for
// the others (WIRE 11). The faults go to the log.
func misconfigured(ctx context.Context, r *Request, err error) *Response {
	x, faults := withoutAuth(r, err)
	if err := x.route(); err != nil {
		return x.finish(x.fail(ctx, err, nil))
	}
	return x.finish(x.refuseAll(ctx, faults))
}

// withoutAuth is the exchange of a request for which no Auth could be chosen, with what little is known of the configuration.
func withoutAuth(r *Request, err error) (*exchange, *ConfigError) {
	var faults *ConfigError
	if !errors.As(err, &faults) {
		faults = &ConfigError{Problems: []*Error{errorf(InvalidConfig, "configuration function: %w", err)}, views: ui.Pages{}.WithDefaults()}
	}
	return unconfigured(r, faults), faults
}

// refuseAll logs the faults of a configuration and answers with status 500.
func (x *exchange) refuseAll(ctx context.Context, faults *ConfigError) *Response {
	for _, p := range faults.Problems {
		x.logError(ctx, p, x.logAttrs()...)
	}
	return x.serverError(ctx, &Response{Err: faults})
}

// unconfigured is a request for which there is no Auth, only what the faulty configuration says of pages and log.
func unconfigured(r *Request, faults *ConfigError) *exchange {
	c := Config{Logger: faults.logger, Theme: faults.theme}
	defaults(&c)
	return &exchange{r: r, Auth: &Auth{
		basePath: or(faults.basePath, "/auth"), publicBase: or(faults.basePath, "/auth"), pages: faults.pages, views: faults.views, theme: c.Theme, logger: c.Logger, rand: c.Rand, now: c.Now,
		contentPolicy: pagePolicy(c.Theme, nil),
	}}
}

// serverError is the answer to faults that no visitor can mend: 500, as a page where a page was asked for.
func (x *exchange) serverError(ctx context.Context, response *Response) *Response {
	response.Status = http.StatusInternalServerError
	if !x.asksForPage() {
		return x.serverErrorJSON(response)
	}
	if own := x.pages.Error; own != "" {
		target, err := weburl.AddQuery(own, "error", "Configuration")
		looping := strings.HasPrefix(x.query.Get("callbackUrl"), own) // the page itself asked: sending it here again would not end
		if looping {
			x.logError(ctx, errorf(ErrorPageLoop, "the page %s needs a session to be shown, and there is none", own), x.logAttrs()...)
		}
		if err == nil && !looping {
			response.Redirect = absolute(x.origin, target)
			return response
		}
	}
	return x.serverErrorPage(ctx, response)
}

func (x *exchange) serverErrorJSON(response *Response) *Response {
	response.Header = http.Header{"Content-Type": contentJSON}
	response.Body = append(exactjson.AppendText(append(exactjson.AppendText([]byte(`{"message":`), configMessage), `,"reference":`...), x.ref()), '}')
	return response
}

func (x *exchange) serverErrorPage(ctx context.Context, response *Response) *Response {
	view := ui.ErrorView{Page: x.pageView(), Error: "Configuration", Reference: x.ref()}
	return x.render(ctx, response, x.views.Error(view))
}

func (x *exchange) asksForPage() bool {
	if x.r.Method != "GET" {
		return false
	}
	switch x.action {
	case "signin", "signout", "error", "verify-request":
		return true
	}
	return false
}
