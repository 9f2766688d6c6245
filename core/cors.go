package core

import (
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// readTrustedOrigins checks Config.TrustedOrigins, each in the one spelling that browsers send (RFC 6454 section 6.2):
// what is compared with it is compared byte by byte.
func readTrustedOrigins(c *Config, faults *ConfigError) (trusted []string) {
	for i, text := range c.TrustedOrigins {
		origin, path, err := weburl.ParseOrigin(text)
		switch {
		case err != nil || path != "" || origin.String() != text:
			faults.add(ErrInvalidConfig, "TrustedOrigins[%d] is %q: write scheme and host as browsers do, "+
				"https://app.example or https://app.example:8443, without a path, a star or a default port", i, text)
		case origin.Scheme != "https" && !origin.Loopback():
			faults.add(ErrInvalidConfig, "TrustedOrigins[%d] is %q: whoever is between it and its visitors can speak for "+
				"it: use https; http is for localhost", i, text)
		default:
			trusted = append(trusted, text)
		}
	}
	return trusted
}

// trustedOrigin is the Origin header of a request where it is one of Config.TrustedOrigins, else empty: "null", which
// many have, and two headers are none of them.
func (v *arrival) trustedOrigin() string {
	if len(v.trusted) == 0 {
		return ""
	}
	sent := v.r.Header["Origin"]
	if len(sent) == 1 && slices.Contains(v.trusted, sent[0]) {
		return sent[0]
	}
	return ""
}

// share lets the scripts of a trusted origin read an answer (Fetch, section 3.3), and nobody else's.
func (v *arrival) share(response *Response) {
	if len(v.trusted) == 0 {
		return
	}
	h := &response.Header
	alsoVaries(h, "Origin")
	if origin := v.trustedOrigin(); origin != "" {
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Credentials", "true")
		h.Set("Access-Control-Expose-Headers", "Retry-After, "+renewedField+", WWW-Authenticate")
	}
}

// preflight answers what a browser asks before a script of a trusted origin sends a request that no form could send
// (Fetch, section 3.3.5); nil: it is no such question.
func (s *site) preflight(r *Request) *Response {
	v := s.unsettled(r)
	asks := r.Method == http.MethodOptions && first(r.Header, "Access-Control-Request-Method") != ""
	if !asks || v.trustedOrigin() == "" {
		return nil
	}
	response := finish(r, &Response{Status: http.StatusNoContent})
	v.share(response)
	h := &response.Header
	h.Set("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", "GET, POST")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Auth-Return-Redirect")
	h.Set("Access-Control-Max-Age", "7200") // seconds; no browser keeps it longer than a day
	return response
}
