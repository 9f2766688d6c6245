package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// What was decided otherwise than recorded for a whole kind of exchanges. Single ones stand in deviations.json.

// mendAddress: a typed address that is none leads back to the sign-in page with EmailSignin, where it can be mended,
// rather than to the error page with Configuration. It concerns sign-ins by mail that ended before anything was looked
// up, stored or mailed.
func mendAddress(st step, c core.Config) step {
	before, id, _ := strings.Cut(st.Request.URL, "/signin/")
	byMail := slices.ContainsFunc(c.Providers, func(p core.Provider) bool {
		name, _, kind := p.Describe()
		return kind == core.TypeEmail && name == id
	})
	early := !slices.ContainsFunc(st.Trace, func(e object) bool { return e["kind"] != "log" && e["name"] != "redirect" })
	errorPage, signInPage := before+"/error", before+"/signin"
	if c.Pages.Error != "" {
		errorPage = originOf(st.Request.URL) + c.Pages.Error
	}
	if c.Pages.SignIn != "" {
		signInPage = originOf(st.Request.URL) + c.Pages.SignIn
	}
	if st.Request.Method != "POST" || !byMail || !early {
		return st
	}
	from, to := errorPage+"?error=Configuration", signInPage+"?error=EmailSignin"
	if st.Response.Headers["location"] == from {
		st.Response.Headers = maps.Clone(st.Response.Headers)
		st.Response.Headers["location"] = to
	}
	if body, ok := st.Response.Body.value.(object); ok && body["url"] == from {
		st.Response.Body.value = object{"url": to}
	}
	return st
}

// passwordsInStore: credentials alone may have database sessions, which Auth.js refuses as UnsupportedStrategy. All
// that is compared of such a recording is that the configuration is accepted.
func passwordsInStore(st step, c core.Config) bool {
	onlyCredentials := !slices.ContainsFunc(c.Providers, func(p core.Provider) bool {
		_, _, kind := p.Describe()
		return kind != core.TypeCredentials
	})
	if !onlyCredentials || c.Session.Strategy != core.StrategyDatabase {
		return false
	}
	return slices.ContainsFunc(st.Trace, func(e object) bool {
		failure, _ := e["error"].(object)
		return failure["type"] == "UnsupportedStrategy"
	})
}

// freeFocus takes the autofocus out of forms, after it has seen that at most one field of a page has it: the first, or
// after a failure that of the form concerned, where Auth.js gives it to every form for an e-mail address. What ties a
// field to the message of its form goes with it, and what tells browsers that an address is one.
func freeFocus(b *binder, forms []any) []any {
	focused, out := 0, []any{}
	for _, f := range forms {
		form, fields := maps.Clone(f.(object)), []any{}
		for _, each := range form["fields"].([]any) {
			field := maps.Clone(each.(object))
			if field["autofocus"] != nil {
				focused++
			}
			delete(field, "autofocus")
			if field["aria-describedby"] == "signin-error" {
				delete(field, "aria-describedby")
			}
			if b != nil && field["type"] == "email" && field["autocomplete"] == "email" {
				delete(field, "autocomplete")
			}
			fields = append(fields, field)
		}
		form["fields"] = fields
		out = append(out, form)
	}
	if b != nil && focused > 1 {
		b.differ("page forms", "%d fields have autofocus", focused)
	}
	return out
}
