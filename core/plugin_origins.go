package core

import (
	"github.com/latchkey-go/latchkey/internal/forwarded"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// ProtectOrigins declares the origins of other applications, such as "https://wiki.example.com". A reverse proxy asks
// an action of the plugin whether it may pass a request on to one of them (forward authentication).
//
// It returns a function that reports the origin of such a request: one of origins, in normal form. The function reads
// X-Forwarded-Proto and X-Forwarded-Host, and returns an error if the peer is not in Config.TrustedProxies, if a header
// is missing or repeated, or if the origin is not in the list. It is safe for concurrent use.
//
// A configuration that cannot work is a configuration error: Config.URL and Config.TrustedProxies must be set, and the
// browser must send the session cookie to each origin. For that, an origin has the scheme of Config.URL, and its host
// is the same or is in Cookies.SessionToken.Domain.
func (h *PluginHost) ProtectOrigins(origins ...string) func(*Request) (origin string, err error) {
	h.attaching("ProtectOrigins")
	s := h.Auth.site
	if !s.pinned {
		h.fault("it protects other origins: set URL (AUTH_URL) to the origin of the sign-in page")
	}
	if len(s.origins.Proxies) == 0 {
		h.fault("it protects other origins: set TrustedProxies to the addresses of the proxy that asks")
	}
	var protected []weburl.Origin
	for _, text := range origins {
		at, err := forwarded.ParseProtected(text, s.origins.Pinned, h.cookieDomain)
		if err != nil {
			h.fault("the origin %q: %w", text, err)
			continue
		}
		protected = append(protected, at)
	}
	s.protected = append(s.protected, protected...)
	return func(r *Request) (string, error) {
		asked := received(r)
		return s.origins.Proxies.Protected(&asked, protected)
	}
}
