package core

import (
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
)

var (
	errTwoBearers = errors.New("the request has more than one Authorization header")
	errBearerForm = errors.New("the Authorization header is not Bearer, a blank and a token")
)

// bearer returns the session token that a request presents in its Authorization header, where Session.Bearer is on.
// presented: the header is there and speaks of a bearer token, well-formed or not, and no cookie counts. A header of
// another scheme is not for us: a server in front may ask for a password of its own. Two headers are refused, as who
// reads which is no router's choice. An error says why a header that is presented has no token.
func (v *arrival) bearer() (token string, presented bool, err error) {
	if !v.bearers {
		return "", false, nil
	}
	return bearerIn(v.r.Header)
}

// byBearer reports whether a request presents its session in the Authorization header. No browser sends that header of
// its own accord, and no page of another site can have it send one.
func (v *arrival) byBearer() bool {
	_, presented, _ := v.bearer()
	return presented
}

// unlessBearer: the action concerns nothing but the session that the request presents. Where that is in a header, no
// other site can have sent it (RFC 6750 section 5.3), and there is no cookie whose power it could borrow.
func unlessBearer(c *call) bool { return !c.byBearer() }

// refuseBearer refuses a sign-in whose request presents a bearer token.
func (c *call) refuseBearer() error {
	if !c.byBearer() {
		return nil
	}
	return &badRequest{cause: errorf(ErrAuth, "%s: a sign-in takes no bearer token: it goes on with cookies, "+
		"send it without Authorization", c.action)}
}

// bearerIn reads the Authorization header (RFC 6750 section 2.1). A token may be percent-encoded, as the session cookie
// has it.
func bearerIn(h http.Header) (token string, presented bool, err error) {
	lines := h["Authorization"]
	switch len(lines) {
	case 0:
		return "", false, nil
	case 1:
	default:
		return "", true, errTwoBearers
	}
	const scheme = "Bearer" // in any letter case (RFC 9110 section 11.1)
	line := strings.TrimLeft(lines[0], " \t")
	end := min(len(scheme), len(line))
	rest := line[end:]
	if !strings.EqualFold(line[:end], scheme) || rest != "" && strings.IndexByte(bearerBytes, rest[0]) >= 0 {
		return "", false, nil
	}
	rest = strings.TrimLeft(rest, " ")
	if rest == "" || len(rest) > cookie.MaxHeaderBytes || strings.Trim(rest, bearerBytes) != "" {
		return "", true, errBearerForm
	}
	if token, err = url.PathUnescape(rest); err != nil {
		return "", true, errBearerForm
	}
	return token, true, nil
}

// bearerBytes are the bytes of a token: those of token68 (RFC 9110 section 11.2), and the percent sign.
const bearerBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=%"

// renewedField is the header field in which a client that presents a bearer token gets the one to go on with.
const renewedField = "Set-Auth-Token"

// answerBearer makes an answer one for a client that presents a bearer token: no cookie is set, as whoever keeps its
// token itself has none, and caches are told that the header counts.
func (c *call) answerBearer(response *Response) {
	if !c.bearers {
		return
	}
	alsoVaries(&response.Header, "Authorization")
	_, presented, err := c.bearer()
	if !presented {
		return
	}
	response.Cookies = nil
	if c.session.renewed != "" {
		response.Header.Set(renewedField, url.PathEscape(c.session.renewed))
	}
	if c.session.nobody && response.Status == http.StatusOK {
		response.Header.Set("Www-Authenticate", bearerProblem(c.origin, err).challenge)
	}
}

// bearerProblem is what a client is told whose bearer token is none, or no good; malformed says why the header has
// none (RFC 6750 section 3.1).
func bearerProblem(origin string, malformed error) *Problem {
	p := &Problem{
		Status: http.StatusUnauthorized, Code: "invalid_token",
		Detail: "The bearer token has expired, was revoked, or is none of this site.",
	}
	if malformed != nil {
		p.Status, p.Code = http.StatusBadRequest, "invalid_request"
		p.Detail = "The Authorization header is not one bearer token."
	}
	p.challenge = `Bearer realm="` + origin + `", error="` + p.Code + `"`
	return p
}
