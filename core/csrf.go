package core

import (
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
		Sent: sent, Unread: fields.Unread(), Trusted: v.cors.Origin(v.r.Header) != "",
	}))
}
