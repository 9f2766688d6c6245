package main

import (
	"maps"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// Intentional differences for whole kinds of exchanges. deviations.json lists differences of single scenarios.

// redirectInvalidAddress: an invalid typed address redirects to the sign-in page with EmailSignin, where the user can
// correct it, instead of to the error page with Configuration. This is for email sign-ins that ended before any lookup,
// write or email.
func redirectInvalidAddress(st step, c core.Config) step {
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

// passwordsInStore: credentials may use database sessions. Auth.js rejects this with UnsupportedStrategy. The replay of
// such a recording checks only that Latchkey accepts the configuration.
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

// freeFocus removes autofocus from forms. First it checks that at most one field of a page has it: the first field or,
// after a failure, a field of the failed form. Auth.js sets it in every form for an email address. freeFocus also
// removes the attributes that connect a field with its form's message, and those that mark an address for browsers.
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
