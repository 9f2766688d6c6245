// Package forwardauth is a plugin for forward authentication: a reverse proxy asks Latchkey about each request, and
// passes it on to an application without a sign-in, with the user in header fields.
//
//	forward := forwardauth.New(forwardauth.Options{Sites: []forwardauth.Site{{Origin: "https://wiki.example.com"}}})
//	auth, err := core.New(core.Config{
//		URL:            "https://auth.example.com",
//		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
//		Cookies:        core.CookiesConfig{SessionToken: core.CookieOptions{Domain: "example.com"}},
//		Plugins:        []core.Plugin{forward}, …
//	})
//
// It adds three actions. The proxy requests <base path>/forward-auth (Caddy forward_auth, Traefik ForwardAuth) or
// <base path>/forward-auth/nginx (nginx auth_request). Browsers that may not see a page are sent to
// <base path>/forward-auth/return, which signs the user in and returns to the page.
//
// The proxy must remove the header fields of Options.Headers from the requests of clients. The page
// docs/forward-auth.md has a tested configuration of each proxy.
package forwardauth
