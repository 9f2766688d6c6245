package core

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
)

// TestCookiesAtMost: the quick count of what a browser will send is never less than the exact one.
func TestCookiesAtMost(t *testing.T) {
	t.Parallel()
	set := &cookieSet{}
	for spec, name := range map[*cookieSpec]string{
		&set.session: "session", &set.csrf: "csrf", &set.callbackURL: "callback", &set.state: "state", &set.pkce: "pkce",
		&set.nonce: "nonce", &set.challenge: "challenge", &set.askedLinks: "asked", &set.logout: "logout",
	} {
		spec.attributes.Name = name
	}
	long := strings.Repeat("x", 2*usualSession)
	for name, lines := range map[string][]string{
		"none":                   nil,
		"of a browser":           {"csrf=a; callback=b; state=" + long + "; theirs=c"},
		"without blanks":         {"csrf=;callback=;state=;pkce=;nonce=;challenge=;asked=;logout="},
		"in several lines":       {"csrf=", "callback=", "state=", "pkce="},
		"with a long session":    {"session=" + long + "; csrf=a"},
		"with chunks of one":     {"session.0=" + long + "; session.1=" + long},
		"with a short session":   {"session=s;csrf="},
		"one of a name twice":    {"csrf=a; csrf=" + long},
		"blanks and empty pairs": {" csrf = a ;; ;state=b"},
	} {
		at := arrival{site: &site{}, r: &Request{Header: http.Header{"Cookie": lines}}, place: &place{cookies: set}}
		at.jar = cookie.Parse(lines)
		c := &call{arrival: at}
		c.session = (&strategies{}).present(&c.arrival)
		f := &browserFlows{c: c}
		for _, answer := range [][]setCookie{
			nil, {{name: "state", value: 500, stays: true}, {name: "pkce", value: 500, stays: true}},
			{{name: "csrf"}, {name: "nonce", value: 9, stays: true}},
		} {
			if most, exact := f.cookiesAtMost(answer), f.cookiesAfter(answer); most < exact {
				t.Errorf("cookies %s: %d at most, and %d", name, most, exact)
			}
		}
	}
}

// TestAttributesLen: what is counted is all of the line but the value.
func TestAttributesLen(t *testing.T) {
	t.Parallel()
	c := Cookie{Name: "n", Value: "v", Path: "/", HasMaxAge: true, MaxAge: 900, HTTPOnly: true, SameSite: "Lax"}
	for _, expires := range []time.Time{{}, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)} {
		c.Expires = expires
		if got, want := attributesLen(&c), len(c.String())-len(c.Value); got != want {
			t.Errorf("%d bytes beside the value, and %d in %q", got, want, c.String())
		}
	}
}
