package core

import (
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/internal/csrf"
	"github.com/latchkey-go/latchkey/internal/form"
)

// CSRFTokenOrSameOrigin returns a policy for front ends that send no token because their framework compares origins,
// such as the client of @auth/sveltekit. A POST request must contain the token, or the header Sec-Fetch-Site with the
// value "same-origin". If the browser does not send that header, the Origin header must equal the public origin of the
// request. Behind a proxy, the public origin is that of Config.URL or of trusted forwarded headers. A request with
// neither header needs the token.
func CSRFTokenOrSameOrigin() CSRFPolicy { return CSRFPolicy{sameOrigin: true} }

// InsecureSkipCSRFCheck returns a policy without tokens, for applications whose router checks every POST request. There
// is no CSRF cookie, and GET csrf has status 404. Requests from another site or subdomain, according to Sec-Fetch-Site
// or the Origin header, are still rejected. A request without these headers is accepted. It is a function, not a flag,
// so that no configuration file can set it by accident.
func InsecureSkipCSRFCheck() CSRFPolicy { return CSRFPolicy{skip: true} }

// checkCSRF returns the CSRF token of a request, and whether a page of this site sent the request. fields are the
// fields of the body.
func (v *arrival) checkCSRF(fields form.Fields) (csrf.Verdict, error) {
	sent, _ := fields.Text("csrfToken")
	return drawn(v.csrf.Check(csrf.Request{
		Jar: v.jar, Cookie: v.cookies.CSRF.Name(), Method: v.r.Method, Header: v.r.Header, Origin: v.origin,
		Sent: sent, Unread: fields.Unread(), Trusted: v.trustedOrigin() != "",
	}))
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
