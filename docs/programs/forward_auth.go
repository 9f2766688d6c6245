package main

import (
	"net/netip"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/forwardauth"
	"github.com/latchkey-go/latchkey/providers"
)

func newAuth() (*core.Auth, error) {
	return core.New(core.Config{
		URL:            "https://auth.example.com",
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Cookies:        core.CookiesConfig{SessionToken: core.CookieOptions{Domain: "example.com"}},
		Providers:      []core.Provider{providers.GitHub()},
		Plugins: []core.Plugin{forwardauth.New(forwardauth.Options{
			Sites: []forwardauth.Site{{Origin: "https://wiki.example.com"}},
		})},
	})
}
