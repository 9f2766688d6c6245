package core

import (
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/internal/weburl"
)

// readTrustedOrigins checks Config.TrustedOrigins. Each origin must have the spelling that browsers send (RFC 6454
// section 6.2), because the comparison is byte by byte.
func readTrustedOrigins(c *Config, faults *ConfigError) (trusted []string) {
	for i, text := range c.TrustedOrigins {
		origin, path, err := weburl.ParseOrigin(text)
		switch {
		case err != nil || path != "" || origin.String() != text:
			faults.add(ErrInvalidConfig, "TrustedOrigins[%d] is %q: write scheme and host as browsers do, "+
				"https://app.example or https://app.example:8443, without a path, a star or a default port", i, text)
		case origin.Scheme != "https" && !origin.Loopback():
			faults.add(ErrInvalidConfig, "TrustedOrigins[%d] is %q: an attacker in its users' network could send requests as "+
				"this origin: use https; http is for localhost", i, text)
		default:
			trusted = append(trusted, text)
		}
	}
	return trusted
}

// trustedOrigin returns the request's Origin header if it is in Config.TrustedOrigins, else "". The origin "null",
// which many pages have, and two headers never match.
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

// share allows the scripts of a trusted origin, and of no other, to read a response (Fetch Standard, section 3.3).
func (v *arrival) share(response *Response) {
	if len(v.trusted) == 0 {
		return
	}
	response.alsoVaries("Origin")
	if origin := v.trustedOrigin(); origin != "" {
		h := response.Header
		h.Set("Access-Control-Allow-Origin", origin)
		h.Set("Access-Control-Allow-Credentials", "true")
		h.Set("Access-Control-Expose-Headers", "Retry-After, "+renewedField+", WWW-Authenticate")
	}
}

// preflight returns the response to a CORS preflight request of a trusted origin (Fetch Standard, section 3.3.5), or
// nil if the request is not one.
func (s *site) preflight(r *Request) *Response {
	v := s.unsettled(r)
	asks := r.Method == http.MethodOptions && first(r.Header, "Access-Control-Request-Method") != ""
	if !asks || v.trustedOrigin() == "" {
		return nil
	}
	response := finish(r, &Response{Status: http.StatusNoContent})
	v.share(response)
	h := response.Header
	h.Set("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
	h.Set("Access-Control-Allow-Methods", "GET, POST")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Auth-Return-Redirect")
	h.Set("Access-Control-Max-Age", "7200") // seconds; browsers cache it for a day at most
	return response
}
