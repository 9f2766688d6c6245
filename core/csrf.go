package core

import (
	"github.com/latchkey-go/latchkey/internal/csrf"
	"github.com/latchkey-go/latchkey/internal/form"
)

// CSRFPolicy is the proof that a POST request must contain that a page of this site sent it. A page of another site can
// make a browser send any POST request here, with the user's cookies. Without this check, an attacker could sign users
// out, or sign them in to the attacker's account and collect what they enter there.
//
// The zero value requires the CSRF token, which built-in pages and GET csrf contain, in the body in addition to the
// cookie (double submit). Another site can read neither. [CSRFTokenOrSameOrigin] also accepts headers that browsers set
// and pages cannot, and [InsecureSkipCSRFCheck] requires no token. All policies reject requests that the browser marks
// as cross-site (Sec-Fetch-Site, Fetch Metadata). Callbacks of providers with form_post are protected by state and
// nonce instead.
type CSRFPolicy struct{ sameOrigin, skip bool }

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
	verdict, err := v.csrf.Check(csrf.Request{
		Jar: v.jar, Cookie: v.cookies.csrf.name(), Method: v.r.Method, Header: v.r.Header, Origin: v.origin,
		Sent: sent, Unread: fields.Unread(), Trusted: v.trustedOrigin() != "",
	})
	return verdict, sourceError(err)
}
