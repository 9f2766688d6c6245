package main

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// withStoredExpiry returns what a step expects if it reads a database session: cookie and body contain the expiry that
// is stored after the read, and GET session does not set a cookie that equals the request's (docs/protocol.md §7.3).
func withStoredExpiry(st step, c core.Config) step {
	if c.Store == nil || c.Session.Strategy == core.StrategyJWT || !strings.Contains(st.Request.URL, "/session") {
		return st
	}
	body, _ := st.Response.Body.value.(object)
	if body == nil || body["expires"] == nil {
		return st
	}
	expires, extended := body["expires"], false
	for _, e := range st.Trace {
		if e["method"] == "updateSession" {
			extended = true
			expires = strings.Replace(fmt.Sprint(e["args"].([]any)[0].(object)["expires"]), "{{date:", "{{iso:", 1)
		}
	}
	body = maps.Clone(body)
	body["expires"] = expires
	st.Response.Body.value = body
	st.Response.SetCookies = slices.Clone(st.Response.SetCookies)
	if !extended && st.Request.Method == http.MethodGet {
		st.Response.SetCookies = slices.DeleteFunc(st.Response.SetCookies, func(set setCookie) bool {
			return strings.HasSuffix(set.Name, "session-token") && set.Value != ""
		})
	}
	for i, set := range st.Response.SetCookies {
		if strings.HasSuffix(set.Name, "session-token") && set.Attributes["Expires"] != nil {
			set.Attributes = maps.Clone(set.Attributes)
			set.Attributes["Expires"] = strings.Replace(fmt.Sprint(expires), "{{iso:", "{{in:", 1)
			st.Response.SetCookies[i] = set
		}
	}
	trace := slices.Clone(st.Trace)
	for i, e := range trace {
		for _, member := range []string{"payload", "args"} {
			told, _ := e[member].(object)
			session, _ := told["session"].(object)
			if session["expires"] == nil || session["sessionToken"] == nil && member == "args" {
				continue
			}
			session, told, e = maps.Clone(session), maps.Clone(told), maps.Clone(e)
			session["expires"] = expires
			told["session"], e[member] = session, told
			trace[i] = e
		}
	}
	st.Trace = trace
	return st
}
