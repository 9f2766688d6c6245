// Package adaptertest is the test suite for router adapters. It runs over a real listener, and checks that the response
// through the adapter is the response of core, and that the adapter loses nothing of a request, retains nothing of it
// for later requests, and trusts no part of it.
//
// The test of an adapter serves a [Site] and implements [ActionRequest]: what handlers of the framework write for each
// operation. The package has everything else: the routes of the application, and one table of requests and responses
// for all adapters.
package adaptertest

import (
	"context"
	"net/url"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// Start serves an application with the adapter on a real listener until the test ends, and returns its address,
// "host:port". It mounts the auth routes and each [Route]. The server must accept header fields of 30 kB and bodies of
// 8 MiB, so that core rejects them and not the server.
type Start func(t *testing.T, s Site) (addr string)

// Run runs all cases.
func Run(t *testing.T, start Start) {
	for name, run := range map[string]func(*kit){
		"answers are core's":                        of(arrivals.sameAsCore),
		"credentials, session, protected page":      of(visits.roundTrip),
		"a session of several cookies":              of(visits.chunks),
		"shared caches":                             of(visits.sharedCaches),
		"the hook reads once and sets what it must": of(visits.hook),
		"raw requests":                              of(arrivals.raw),
		"bodies":                                    of(arrivals.bodies),
		"values outlive the request":                of(arrivals.kept),
		"forms for every client":                    of(visits.clients),
		"a streamed page":                           of(visits.stream),
		"concurrent session and forms":              of(visits.parallel),
		"the guard of another Auth":                 of(visits.otherAuth),
		"a header of a mebibyte":                    of(arrivals.megabyte),
		"a target with a host":                      of(arrivals.absoluteTarget),
	} {
		t.Run(name, func(t *testing.T) { run(newKit(t, start, nil)) })
	}
	table(t, start)
	t.Run("a callback panics", func(t *testing.T) {
		k := newKit(t, start, func(c *core.Config) {
			c.Callbacks.SignIn = func(context.Context, core.SignInParams) (core.SignInResult, error) { panic("boom") }
		})
		a := k.send("POST", "/auth/callback/credentials", "", url.Values{"csrfToken": {k.csrf()}, "password": {"right"}})
		k.expect("status", a.status, 302)
		k.expect("session", k.get("/auth/session").body, "null")
	})
	t.Run("a session read after the handler", func(t *testing.T) {
		k := newKit(t, start, func(c *core.Config) { c.Session.UpdateAge = core.UpdateAlways })
		visits{k}.afterwards()
	})
	t.Run("the session in one call", func(t *testing.T) {
		k := newKit(t, start, func(c *core.Config) { c.Session.UpdateAge = core.UpdateAlways })
		visits{k}.once()
	})
	t.Run("bearer tokens", func(t *testing.T) { bearing{newKit(t, start, bearers)}.bearer() })
	t.Run("actions of parts", func(t *testing.T) { parts(t, start) })
	t.Run("actions of parts, after a middleware that reads forms", func(t *testing.T) {
		parts(t, start, Step{Kind: Early, Do: readForm})
	})
	t.Run("keys and sessions", func(t *testing.T) { principals(t, start) })
	t.Run("documents outside of the base path", func(t *testing.T) { wellKnown(t, start) })
	t.Run("configuration per request", func(t *testing.T) { perRequest(t, start) })
}

// of converts a method of a type that embeds kit to a case.
func of[S ~struct{ *kit }](do func(S)) func(*kit) {
	return func(k *kit) { do(S{k}) }
}
