package core

import (
	"net/http"
	"net/url"

	"github.com/latchkey-go/latchkey/core/internal/problems"
	"github.com/latchkey-go/latchkey/internal/negotiate"
	"github.com/latchkey-go/latchkey/internal/tokensource"
)

// bearer returns the token in the Authorization header, if Session.Bearer is on or the token is the credential of a
// plugin; see [tokensource.Bearer]. If presented is true, cookies are ignored.
func (v *arrival) bearer() (token string, presented bool, err error) {
	if !v.bearers {
		if kind, _ := v.credential(); kind == nil {
			return "", false, nil
		}
	}
	return tokensource.Bearer(v.r.Header)
}

// readsAuthorization reports whether responses depend on the Authorization header.
func (s *site) readsAuthorization() bool { return s.bearers || len(s.credentials) > 0 }

// byBearer reports whether the session of a request is in the Authorization header. Browsers do not send that header
// automatically, and a page of another site cannot make them send it.
func (v *arrival) byBearer() bool {
	_, presented, _ := v.bearer()
	return presented
}

// unlessBearer reports whether an action that changes only the session of the request needs the CSRF token. It does not
// if the session is in the Authorization header: no other site can have sent the request (RFC 6750 section 5.3), and it
// uses no cookie.
func unlessBearer(c *call) bool { return !c.byBearer() }

// refuseBearer returns an error if a sign-in request has a bearer token.
func (c *call) refuseBearer() error {
	if !c.byBearer() {
		return nil
	}
	return &problems.BadRequest{Cause: errorf(ErrAuth, "%s: sign-in needs cookies: "+
		"remove the Authorization header", c.action)}
}

// renewedField is the response header with the new token for a client with a bearer token.
const renewedField = "Set-Auth-Token"

// answerBearer adapts a response for clients with a bearer token. It sets no cookies, because such a client stores its
// token itself, and it adds the header to Vary.
func (c *call) answerBearer(response *Response) {
	if !c.readsAuthorization() {
		return
	}
	negotiate.JoinVary(response.Header, "Authorization")
	if !c.byBearer() {
		return
	}
	response.Cookies = nil
	if c.session != nil && c.session.carrier().Renewed != "" {
		response.set(renewedField, url.PathEscape(c.session.carrier().Renewed))
	}
}

// bearerProblem returns the 401 response to an invalid bearer token, or 400 if the Authorization header is malformed
// (RFC 6750 section 3.1).
func bearerProblem(origin string, malformed error) *Problem {
	p := &Problem{
		Status: http.StatusUnauthorized, Code: "invalid_token",
		Detail: "The bearer token has expired, was revoked, or is not valid for this site.",
	}
	if malformed != nil {
		p.Status, p.Code = http.StatusBadRequest, "invalid_request"
		p.Detail = "The Authorization header is not a single bearer token."
	}
	p.challenge = `Bearer realm="` + origin + `", error="` + p.Code + `"`
	return p
}

// presentsSession reports whether the request has a session cookie or a bearer token, valid or not.
func (v *arrival) presentsSession() bool {
	name := v.cookies.Session.Name()
	return v.jar.Has(name) || v.jar.Has(name+".0") || v.byBearer()
}

// credential returns the credential in the Authorization header, or nil if the header has none. If there are several
// headers and one has a credential, it is an error of the client; see [arrival.bearer].
func (v *arrival) credential() (kind *Credential, token string) {
	for i := range v.credentials {
		if token := tokensource.Find(v.r.Header, v.credentials[i].Matches); token != "" {
			return &v.credentials[i], token
		}
	}
	return nil, ""
}

// caller returns the kind of client. A client with a bearer token is a program, whatever it accepts.
func (v *arrival) caller() negotiate.Client {
	if v.program || v.byBearer() {
		return negotiate.Program
	}
	return negotiate.ClientOf(v.r.Method, v.r.Header)
}

// readsPages reports whether the client can show an HTML page when a guard refuses the request.
func (v *arrival) readsPages() bool {
	switch v.caller() {
	case negotiate.Browser:
		return true
	case negotiate.HTMX:
		return wantsPage(v.r)
	}
	return false
}
