package core_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestOriginOfAnotherRequest checks that the origin of a request depends on that request only, not on earlier ones.
func TestOriginOfAnotherRequest(t *testing.T) {
	t.Parallel()
	requests := placedRequests()
	proxies := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}
	for name, config := range map[string]core.Config{
		"any host":                    {TrustHost: core.True},
		"any host, behind a proxy":    {TrustHost: core.True, TrustedProxies: proxies},
		"listed hosts":                {TrustedHosts: []string{"a.test", "b.test", "c.example"}},
		"no origin, loopback answers": {TrustHost: core.False},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config.Providers = []core.Provider{passwords()}
			answer := func(a *app, r core.Request) string {
				response := a.Handle(t.Context(), &r)
				return fmt.Sprint(response.Status, " ", shownReference.ReplaceAllString(string(response.Body), ""))
			}
			want := map[string]string{}
			for says, r := range requests {
				want[says] = answer(newApp(t, config), r)
			}
			a := newApp(t, config)
			for before, first := range requests {
				for says, r := range requests {
					answer(a, first)
					if got := answer(a, r); got != want[says] {
						t.Fatalf("%s, after %s: %s\nwant %s", says, before, got, want[says])
					}
				}
			}
		})
	}
}

// placedRequests returns requests that differ in one or two of the values that determine the origin.
func placedRequests() map[string]core.Request {
	all := map[string]core.Request{}
	for name, change := range map[string]func(r *core.Request){
		"as usual":                      func(*core.Request) {},
		"https":                         func(r *core.Request) { r.Scheme = "https" },
		"another host":                  func(r *core.Request) { r.Hosts = []string{"b.test"} },
		"no host":                       func(r *core.Request) { r.Hosts = nil },
		"two hosts":                     func(r *core.Request) { r.Hosts = []string{"a.test", "b.test"} },
		"the same host twice":           func(r *core.Request) { r.Hosts = []string{"a.test", "a.test"} },
		"a forwarded host":              withHeader("X-Forwarded-Host", "b.test"),
		"another forwarded host":        withHeader("X-Forwarded-Host", "c.example"),
		"an empty forwarded host":       withHeader("X-Forwarded-Host", ""),
		"two forwarded hosts":           withHeader("X-Forwarded-Host", "b.test", "c.example"),
		"two forwarded hosts, turned":   withHeader("X-Forwarded-Host", "c.example", "b.test"),
		"forwarded https":               withHeader("X-Forwarded-Proto", "https"),
		"forwarded http":                withHeader("X-Forwarded-Proto", "http"),
		"two forwarded schemes":         withHeader("X-Forwarded-Proto", "https", "http"),
		"two forwarded schemes, turned": withHeader("X-Forwarded-Proto", "http", "https"),
		"an absolute target":            func(r *core.Request) { r.Target = "http://c.example" + r.Target },
		"an absolute target, and https": func(r *core.Request) { r.Target = "https://c.example" + r.Target },
		"a loopback host":               func(r *core.Request) { r.Hosts = []string{"localhost:3000"} },
		"a peer that is no proxy":       func(r *core.Request) { r.RemoteAddr = "192.0.2.1:4000" },
		"forwarded by a stranger":       func(r *core.Request) { r.RemoteAddr = "192.0.2.1:4000"; forward(r) },
		"forwarded by the proxy":        forward,
		"loopback, from the own machine": func(r *core.Request) {
			r.Hosts, r.RemoteAddr = []string{"localhost"}, "127.0.0.1:4000"
		},
		"loopback, and a proxy's header": func(r *core.Request) {
			r.Hosts, r.RemoteAddr = []string{"localhost"}, "127.0.0.1:4000"
			r.Header["X-Forwarded-For"] = []string{"192.0.2.1"}
		},
	} {
		r := core.Request{
			Method: "GET", Target: "/auth/providers", Scheme: "http", Hosts: []string{"a.test"}, Header: http.Header{},
			RemoteAddr: "10.0.0.1:4000",
		}
		change(&r)
		all[name] = r
	}
	return all
}

func forward(r *core.Request) {
	r.Header["X-Forwarded-Host"], r.Header["X-Forwarded-Proto"] = []string{"b.test"}, []string{"https"}
}

func withHeader(name string, values ...string) func(*core.Request) {
	return func(r *core.Request) { r.Header[name] = values }
}
