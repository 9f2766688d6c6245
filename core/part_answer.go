package core

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/ui"
)

// Render answers with a page, which has the headers and the policy of our own: no source but this site's, style and
// scripts with the nonce of page. A view that fails is answered 500, and logged.
func (c *Call) Render(ctx context.Context, status int, page ui.Page, view templ.Component) *Response {
	return c.parts.auth.pages.render(ctx, &c.in.arrival, &Response{Status: status}, page.Nonce, view)
}

// Answer answers with v as JSON. A v that cannot be encoded is answered 500, and logged.
func (c *Call) Answer(ctx context.Context, status int, v any) *Response {
	body, err := json.Marshal(v)
	if err != nil {
		e := errorf(ErrAuth, "answer of %s: %w", c.part, err)
		c.in.log.failure(ctx, e, c.in.attrs()...)
		return serverErrorJSON(&c.in.arrival, &Response{Err: e})
	}
	return &Response{Status: status, Body: body, Header: newHeader(contentJSON)}
}

// Redirect sends a browser to an address with 303, and tells a client that asks for JSON {"url": …} with 200. The
// address is one of this site's making, such as CallbackURL or URL: nothing checks it. A path belongs to the origin.
func (c *Call) Redirect(address string) *Response {
	address = absolute(c.in.origin, address)
	if c.WantsJSON && !wantsURL(c.in.r) {
		body := append(exactjson.AppendText([]byte(`{"url":`), address), '}')
		return &Response{Status: http.StatusOK, Body: body, Header: newHeader(contentJSON)}
	}
	return &Response{Status: http.StatusSeeOther, Redirect: address}
}

// addRules adds the plugins' actions to those of core. An action that would replace one of core is a configuration
// error.
func (ps *parts) addRules(rules map[route]rule, faults *ConfigError) {
	for _, a := range ps.actions {
		if _, taken := rules[route{a.Method, a.path()}]; taken {
			faults.add(ErrInvalidConfig, "%s: action %q: core has this action: give it another Name", a.part,
				a.Method+" "+a.path())
			continue
		}
		r := rule{act: ps.act(a), opens: true, session: true}
		if a.Method != http.MethodGet {
			r.csrf = always
		}
		rules[route{a.Method, a.path()}] = r
	}
}

// assemble takes what calls need of the finished Auth.
func (ps *parts) assemble(a *Auth, entry *signIns, limits *limits) {
	ps.auth, ps.entry, ps.limits = a, entry, limits
}

// act answers requests to an action.
func (ps *parts) act(a *partAction) func(context.Context, *call) (*Response, error) {
	return func(ctx context.Context, in *call) (*Response, error) {
		c := newCall(in, ps, a.part)
		response, err := a.answer(ctx, c)
		if err != nil {
			response = &Response{}
		}
		response.Cookies = append(append(c.kept, c.cookies...), response.Cookies...)
		return response, err
	}
}

// answer meets the demands of the action and lets it answer a call.
func (a *partAction) answer(ctx context.Context, c *Call) (*Response, error) {
	if len(a.Require) > 0 {
		if refused, err := require(ctx, c, a.Require); err != nil || refused != nil {
			return refused, err
		}
	}
	if a.Attempt != "" {
		if err := c.Allow(ctx, a.Attempt, ""); err != nil {
			return nil, err
		}
	}
	response, err := guarded("action "+a.path(), func() (*Response, error) { return a.Handle(ctx, c) })
	switch {
	case err != nil:
		return objection(c, err)
	case response == nil:
		return nil, errors.New("the action returned neither a Response nor an error")
	}
	return response, nil
}

// require asks the guards. refused is the answer to a visitor who has to sign in first.
func require(ctx context.Context, c *Call, guards []Guard) (refused *Response, err error) {
	session, err := c.Session(ctx)
	switch {
	case err != nil:
		return nil, err
	case session == nil || session.User == nil:
		return signInFirst(c)
	}
	for _, ask := range guards {
		if err := guard("guard", func() error { return ask(ctx, session) }); err != nil {
			return objection(c, err)
		}
	}
	return nil, nil
}

// objection is the answer to what a guard returned, or the action itself.
func objection(c *Call, err error) (*Response, error) {
	var again *StepUp
	switch {
	case errors.As(err, new(*Problem)):
		return nil, err
	case errors.Is(err, ErrForbidden):
		return nil, &Problem{Status: http.StatusForbidden, Code: "forbidden", Cause: err}
	case !errors.As(err, &again):
		return nil, err
	case c.WantsJSON:
		return nil, again.problem()
	}
	cookie, err := c.parts.requestStepUp(&c.in.arrival, again)
	if err != nil {
		return nil, err
	}
	c.keep(cookie)
	return toSignIn(c)
}

// signInFirst sends a visitor without a session to the sign-in page, from where they come back.
func signInFirst(c *Call) (*Response, error) {
	if c.WantsJSON {
		return nil, &Problem{Status: http.StatusUnauthorized, Code: "session_required", unlogged: true}
	}
	return toSignIn(c)
}

// toSignIn sends a browser to the sign-in page and back: to the page that it asked for, or from a form, which nobody
// can ask for, to the page of the same part.
func toSignIn(c *Call) (*Response, error) {
	in := c.in
	back := in.here()
	if in.r.Method != http.MethodGet {
		back = c.CallbackURL
		name, _, _ := strings.Cut(in.action, "/")
		if slices.Contains(c.parts.auth.site.parts.methods[name], http.MethodGet) {
			back = in.publicBase + "/" + name
		}
	}
	page := c.parts.auth.pages.config.SignIn
	target, err := in.page(page, "signin", "error", sessionRequired, "callbackUrl", back)
	if err != nil {
		return nil, errorf(ErrAuth, "Pages.SignIn: %w", err)
	}
	return c.Redirect(target), nil
}
