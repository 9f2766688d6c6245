package main

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

const (
	pkceSuffix  = "authjs.pkce.code_verifier"
	stateSuffix = "authjs.state"
)

// addedState implements an intentional difference: if a provider sets no checks, Auth.js uses only PKCE, and Latchkey
// uses PKCE and state (docs/protocol.md §8.2). The rule adds to a recorded start a state parameter, and a state cookie
// before the PKCE cookie. It adds both to the callback, as the browser and the provider would send them. Where the PKCE
// cookie is cleared, it adds that the state cookie is cleared before it. The added values are compared like recorded
// ones, and nothing else may differ.
type addedState struct {
	starts int
	// byCookie and byProvider map a callback to its start: by the PKCE cookie, otherwise the provider's last start.
	byCookie, byProvider map[string]int
}

// apply applies the rule to a step.
func (b *addedState) apply(st step, c core.Config) step {
	u, err := url.Parse(st.Request.URL)
	if err != nil {
		return st
	}
	segments := strings.Split(strings.Trim(u.Path, "/"), "/")
	if len(segments) < 2 {
		return st
	}
	action, id := segments[len(segments)-2], segments[len(segments)-1]
	if !namesNoChecks(c, id) {
		return st
	}
	switch action {
	case "signin":
		return b.starting(st, id)
	case "callback":
		return b.ending(st, u, id)
	}
	return st
}

// namesNoChecks reports whether the provider uses the default checks.
func namesNoChecks(c core.Config, id string) bool {
	return slices.ContainsFunc(c.Providers, func(p core.Provider) bool {
		o, ok := p.(*core.OAuthProvider)
		return ok && o.ID == id && o.Checks == nil && o.RequestToken.URL == ""
	})
}

// starting adds the state to a recorded start, if that has none.
func (b *addedState) starting(st step, id string) step {
	r := &st.Response
	at := slices.IndexFunc(r.SetCookies, func(s setCookie) bool { return setsPKCE(s.Name, s.Value) })
	atRaw := slices.IndexFunc(r.Cookies, func(o object) bool {
		return setsPKCE(fmt.Sprint(o["name"]), fmt.Sprint(o["value"]))
	})
	hasState := slices.ContainsFunc(r.SetCookies, func(s setCookie) bool {
		return strings.HasSuffix(s.Name, stateSuffix)
	}) || slices.ContainsFunc(r.Cookies, func(o object) bool {
		return strings.HasSuffix(fmt.Sprint(o["name"]), stateSuffix)
	})
	if at < 0 && atRaw < 0 || hasState {
		return st
	}
	b.starts++
	n := b.starts
	if b.byCookie == nil {
		b.byCookie, b.byProvider = map[string]int{}, map[string]int{}
	}
	b.byProvider[id] = n
	withState := func(target string) string {
		base, fragment, _ := strings.Cut(target, "#")
		if fragment != "" {
			fragment = "#" + fragment
		}
		return base + fmt.Sprintf("&state={{state:added-state-%d}}", n) + fragment
	}
	if location := r.Headers["location"]; location != "" {
		r.Headers = maps.Clone(r.Headers)
		r.Headers["location"] = withState(location)
	}
	if r.Redirect != "" {
		r.Redirect = withState(r.Redirect)
	}
	if body, ok := r.Body.value.(object); ok && body["url"] != nil {
		body = maps.Clone(body)
		body["url"] = withState(fmt.Sprint(body["url"]))
		r.Body.value = body
	}
	if at >= 0 {
		b.byCookie[r.SetCookies[at].Value] = n
		r.SetCookies = slices.Insert(slices.Clone(r.SetCookies), at, stateCookieOf(r.SetCookies[at], id, n))
	}
	if atRaw >= 0 {
		b.byCookie[fmt.Sprint(r.Cookies[atRaw]["value"])] = n
		cookie := maps.Clone(r.Cookies[atRaw])
		cookie["name"], cookie["value"] = stateName(fmt.Sprint(cookie["name"])), fmt.Sprintf("{{jwe:added-state-%d}}", n)
		r.Cookies = slices.Insert(slices.Clone(r.Cookies), atRaw, cookie)
	}
	return st
}

func setsPKCE(name, value string) bool { return strings.HasSuffix(name, pkceSuffix) && value != "" }

func stateName(pkce string) string { return strings.TrimSuffix(pkce, pkceSuffix) + stateSuffix }

// stateCookieOf returns the state cookie that precedes a PKCE cookie.
func stateCookieOf(pkce setCookie, id string, n int) setCookie {
	times := func(o object, uuid string) object {
		o["iat"], o["exp"], o["jti"] = "{{unix:+0}}", "{{unix:+900}}", fmt.Sprintf("{{uuid:added-state-%s-%d}}", uuid, n)
		return o
	}
	value := fmt.Sprintf("{{jwe:added-state-%d}}", n)
	s := setCookie{Name: stateName(pkce.Name), Value: value, Attributes: pkce.Attributes}
	if pkce.Decoded != nil {
		s.Decoded = &sealed{
			Salt: s.Name, Header: pkce.Decoded.Header,
			Claims: times(object{"value": fmt.Sprintf("{{state:added-state-%d}}", n), "provider": id}, "outer"),
			ValueDecoded: &sealed{
				Salt:   "encodedState",
				Claims: times(object{"random": fmt.Sprintf("{{random:added-state-%d}}", n)}, "inner"),
			},
		}
	}
	return s
}

// ending adds the start's state to the callback.
func (b *addedState) ending(st step, u *url.URL, id string) step {
	n := b.byProvider[id]
	name := "__Secure-" + stateSuffix
	if u.Scheme == "http" {
		name = stateSuffix
	}
	for _, c := range st.Request.Cookies {
		if strings.HasSuffix(c.Name, stateSuffix) {
			return st
		}
		if setsPKCE(c.Name, c.Value) {
			name = stateName(c.Name)
			if of := b.byCookie[c.Value]; of != 0 {
				n = of
			}
		}
	}
	if n == 0 || u.Query().Has("state") {
		return st
	}
	separator := "?"
	if u.RawQuery != "" {
		separator = "&"
	}
	st.Request.URL += separator + fmt.Sprintf("state={{state:added-state-%d}}", n)
	value := fmt.Sprintf("{{jwe:added-state-%d}}", n)
	if st.Request.CookieHeader != nil {
		line := *st.Request.CookieHeader + "; " + name + "=" + value
		st.Request.CookieHeader = &line
	} else {
		st.Request.Cookies = append(slices.Clone(st.Request.Cookies), pair{Name: name, Value: value})
	}
	r := &st.Response
	at := slices.IndexFunc(r.SetCookies, func(s setCookie) bool {
		return strings.HasSuffix(s.Name, pkceSuffix) && s.Value == ""
	})
	if at >= 0 {
		cleared := r.SetCookies[at]
		cleared.Name = stateName(cleared.Name)
		r.SetCookies = slices.Insert(slices.Clone(r.SetCookies), at, cleared)
	}
	at = slices.IndexFunc(r.Cookies, func(o object) bool {
		return strings.HasSuffix(fmt.Sprint(o["name"]), pkceSuffix) && o["value"] == ""
	})
	if at >= 0 {
		cleared := maps.Clone(r.Cookies[at])
		cleared["name"] = stateName(fmt.Sprint(cleared["name"]))
		r.Cookies = slices.Insert(slices.Clone(r.Cookies), at, cleared)
	}
	return st
}
