package forwardauth_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/netip"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/forwardauth"
)

// A sign-in site that protects another application on the same domain. The proxy asks it before each request.
func Example() {
	auth, err := core.New(core.Config{
		URL:            "https://auth.example.com",
		Secrets:        []core.Secret{"a secret of the example, 32 bytes or more"},
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Cookies:        core.CookiesConfig{SessionToken: core.CookieOptions{Domain: "example.com"}},
		Plugins: []core.Plugin{forwardauth.New(forwardauth.Options{
			Sites: []forwardauth.Site{{Origin: "https://wiki.example.com"}},
		})},
	})
	if err != nil {
		log.Fatal(err)
	}
	// What Caddy and Traefik ask about a browser without a session. An adapter serves the Auth in a program.
	answer := auth.Handle(context.Background(), &core.Request{
		Method: "GET", Target: "/auth/forward-auth", Hosts: []string{"auth.example.com"}, RemoteAddr: "127.0.0.1:4000",
		Header: http.Header{
			"X-Forwarded-Proto": {"https"}, "X-Forwarded-Host": {"wiki.example.com"}, "X-Forwarded-Uri": {"/"},
			"Accept": {"text/html"},
		},
	})
	fmt.Println(answer.Status, answer.Header.Get("Location"))
	// Output: 303 https://auth.example.com/auth/forward-auth/return?to=https%3A%2F%2Fwiki.example.com%2F
}
