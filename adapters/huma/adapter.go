// Package authhuma protects the operations of an API of github.com/danielgtaylor/huma/v2, with any of its routers, and
// describes the credentials in the OpenAPI document.
//
//	api := humago.New(mux, huma.DefaultConfig("Orders", "1.0.0"))
//	err := authhuma.Protect(api, auth, access.Session()) // before the operations
//	huma.Get(api, "/orders", listOrders)
//	huma.Get(api, "/prices", listPrices, authhuma.Rule(access.Public()))
//
// The sign-in page and the other auth routes are served by the adapter of the router, such as adapters/stdlib.
package authhuma

import (
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/access"
)

// ruleKey is the key of the rule in [huma.Operation].Metadata.
const ruleKey = "latchkey.rule"

// Rule sets the rule of an operation: pass it to huma.Get and the like, call it with an operation for huma.Register, or
// pass it to the method UseSimpleModifier of a group. The rule of an operation takes precedence over that of its group.
func Rule(rule access.Rule) func(*huma.Operation) {
	return func(op *huma.Operation) {
		if _, set := op.Metadata[ruleKey].(access.Rule); set {
			return
		}
		if op.Metadata == nil {
			op.Metadata = map[string]any{}
		}
		op.Metadata[ruleKey] = rule
	}
}

// Protect adds a middleware to an API, which refuses the calls that the rule of their operation does not allow. rule is
// that of the operations without [Rule]; the zero value refuses all calls. In the handlers, core.SessionFrom(ctx),
// core.PrincipalFrom(ctx) and [Caller] work. The OpenAPI document gets the security schemes, and the responses 401 and
// 403 of the operations.
//
// Call it before the first operation is registered. It returns an error if the API has operations, because they would
// not be protected. The routes that huma itself adds, such as /openapi.json and /docs, stay public.
func Protect(api huma.API, auth *core.Auth, rule access.Rule) error {
	document := api.OpenAPI()
	if len(document.Paths) > 0 {
		return errors.New("authhuma: the API has operations already: call Protect before the first one is registered")
	}
	a := &adapter{auth, rule}
	a.describe(document)
	document.OnAddOperation = append(document.OnAddOperation, a.describeOperation)
	api.UseMiddleware(a.middleware)
	return nil
}

// adapter protects the operations of an API.
type adapter struct {
	auth *core.Auth
	rule access.Rule
}

func (a *adapter) ruleOf(op *huma.Operation) access.Rule {
	if rule, ok := op.Metadata[ruleKey].(access.Rule); ok {
		return rule
	}
	return a.rule
}

func (a *adapter) middleware(c huma.Context, next func(huma.Context)) {
	rule := a.ruleOf(c.Operation())
	visit := core.VisitOf(c.Context(), a.auth)
	if visit != nil { // a hook of the router commits it
		if refusal := rule.Check(visit); refusal != nil {
			write(c, refusal)
			return
		}
		next(c)
		return
	}
	visit = a.auth.Visit(c.Context(), request(c))
	hooked := &hookedContext{humaContext: c, visit: visit, header: http.Header{}}
	if refusal := rule.Check(visit); refusal != nil {
		write(hooked, refusal)
		return
	}
	next(hooked)
	hooked.commit()
}

// request translates the request of a call.
func request(c huma.Context) *core.Request {
	u := c.URL()
	r := &core.Request{
		Method: c.Method(), Target: u.RequestURI(), Path: u.Path, Hosts: []string{c.Host()}, Scheme: "http",
		RemoteAddr: c.RemoteAddr(), Header: http.Header{},
	}
	if c.TLS() != nil {
		r.Scheme = "https"
	}
	c.EachHeader(r.Header.Add)
	return r
}

// write writes a response of core.
func write(c huma.Context, response *core.Response) {
	h := http.Header{}
	response.Fill(h)
	for name, values := range h {
		for _, value := range values {
			c.AppendHeader(name, value)
		}
	}
	c.SetStatus(response.Status)
	_, _ = c.BodyWriter().Write(response.Body) // the client may have disconnected
}

type humaContext = huma.Context

// hookedContext is the context of a call that commits its visit before the header of the response is written.
type hookedContext struct {
	humaContext
	visit  *core.Visit
	header http.Header // of the response
}

// Context returns the visit.
func (c *hookedContext) Context() context.Context { return c.visit }

// Unwrap returns the context of the router.
func (c *hookedContext) Unwrap() huma.Context { return c.humaContext }

// SetHeader implements [huma.Context].
func (c *hookedContext) SetHeader(name, value string) {
	c.header.Set(name, value)
	c.humaContext.SetHeader(name, value)
}

// AppendHeader implements [huma.Context].
func (c *hookedContext) AppendHeader(name, value string) {
	c.header.Add(name, value)
	c.humaContext.AppendHeader(name, value)
}

// SetStatus implements [huma.Context].
func (c *hookedContext) SetStatus(code int) {
	c.commit()
	c.humaContext.SetStatus(code)
}

// BodyWriter implements [huma.Context].
func (c *hookedContext) BodyWriter() io.Writer {
	c.commit()
	return c.humaContext.BodyWriter()
}

// commit adds the cookies and caching headers of the visit. It does nothing after the first time.
func (c *hookedContext) commit() {
	all := c.header.Clone()
	c.visit.Commit(all)
	for name, values := range all {
		for _, value := range values[len(c.header[name]):] {
			c.AppendHeader(name, value)
		}
	}
}

// Caller contains the user or the program that makes a call. Embed it in the input of a handler.
type Caller struct{ principal *core.Principal }

// Resolve implements [huma.Resolver]. An error means that the principal is unknown.
func (c *Caller) Resolve(ctx huma.Context) []error {
	p, err := core.PrincipalFrom(ctx.Context())
	if err != nil {
		return []error{huma.Error503ServiceUnavailable("the session could not be read")}
	}
	c.principal = p
	return nil
}

// Principal returns the user or the program. It is nil in a public operation for a call without credentials.
func (c *Caller) Principal() *core.Principal { return c.principal }

// Session returns the user's session. It is nil for a program, and if there is no principal.
func (c *Caller) Session() *core.Session {
	if c.principal == nil {
		return nil
	}
	return c.principal.Session
}
