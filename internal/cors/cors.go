// Package cors lets scripts of trusted origins read responses (Fetch Standard, section 3.3).
package cors

import (
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/internal/negotiate"
)

// Policy has the trusted origins. Without any, no response is shared.
type Policy struct {
	Trusted []string
	Expose  string // names of the response header fields that scripts may read
}

// Origin returns the Origin header of a request if it is trusted, else "". The origin "null", which many pages have,
// and two headers never match.
func (p Policy) Origin(request http.Header) string {
	if sent := request["Origin"]; len(sent) == 1 && slices.Contains(p.Trusted, sent[0]) {
		return sent[0]
	}
	return ""
}

// Share allows the scripts of a trusted origin, and of no other, to read a response.
func (p Policy) Share(request, response http.Header) {
	if len(p.Trusted) == 0 {
		return
	}
	negotiate.JoinVary(response, "Origin")
	if origin := p.Origin(request); origin != "" {
		response.Set("Access-Control-Allow-Origin", origin)
		response.Set("Access-Control-Allow-Credentials", "true")
		response.Set("Access-Control-Expose-Headers", p.Expose)
	}
}

// IsPreflight reports whether a request is a CORS preflight request of a trusted origin (section 3.3.5).
func (p Policy) IsPreflight(method string, request http.Header) bool {
	asked := request["Access-Control-Request-Method"]
	return method == http.MethodOptions && len(asked) > 0 && asked[0] != "" && p.Origin(request) != ""
}

// Preflight adds the header fields of the response to a preflight request.
func (p Policy) Preflight(request, response http.Header) {
	p.Share(request, response)
	response.Set("Vary", "Origin, Access-Control-Request-Method, Access-Control-Request-Headers")
	response.Set("Access-Control-Allow-Methods", "GET, POST")
	response.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, X-Auth-Return-Redirect")
	response.Set("Access-Control-Max-Age", "7200") // seconds; browsers cache it for a day at most
}
