package core

import (
	"net/http"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookie"
)

// Bounds of what the sign-ins under way add to headers. nginx reads the header of an answer into 4,096 bytes unless it
// is told otherwise (proxy_buffer_size), fiber that of a request (ReadBufferSize), where browsers add about 1,000 bytes
// of their own.
const (
	// maxAnswerHeader is all of an answer's header, usualHeader what it has besides cookies and Location: status line,
	// date, security headers, and a few of the application's or the server's own.
	maxAnswerHeader = 4000
	usualHeader     = 500
	// maxCookies is what the cookies of a browser take with several flows under way, maxCookiesOfOne with one: it may have
	// three checks in the format of Auth.js beside a session.
	maxCookies      = 2450
	maxCookiesOfOne = 3000
	// usualSession is how much of a session cookie counts: what a longer one adds is the application's.
	usualSession = 700
)

// fits reports whether the header of an answer with these cookies, whose values are sealed, and the cookies that the
// browser has afterwards, are short enough (docs/protocol.md §3.6).
func (f *browserFlows) fits(cookies []Cookie, location int, several bool) bool {
	set := f.c.setCookies(make([]setCookie, 0, 8), nil)
	for i := range cookies {
		set = append(set, settled(&cookies[i], len(cookies[i].Value))) // a token has no escapes
	}
	answer := answerHeader(set, location)
	limit := maxCookiesOfOne
	if several {
		limit = maxCookies
	}
	return answer <= maxAnswerHeader && (f.cookiesAtMost(set) <= limit || f.cookiesAfter(set) <= limit)
}

// cookiesAtMost is no less than cookiesAfter, and found without a look at each cookie: all that the browser sent, and
// all that the answer sets.
func (f *browserFlows) cookiesAtMost(answer []setCookie) int {
	total := f.sessionAfter()
	for _, line := range f.c.r.Header["Cookie"] {
		total += len(line) + len("; ")*(1+strings.Count(line, ";")) // a client may leave blanks out
	}
	for _, c := range answer {
		total += len(c.name) + len("=; ") + c.value
	}
	return total
}

// setCookie is a cookie that an answer sets: its name, the lengths of its value and of the rest of its line, and
// whether it stays.
type setCookie struct {
	name        string
	value, rest int
	stays       bool
}

// setCookies appends the opening cookies of an answer and these.
func (c *call) setCookies(set []setCookie, cookies []Cookie) []setCookie {
	for _, list := range [...][]Cookie{c.opening(), cookies} {
		for i := range list {
			set = append(set, settled(&list[i], cookie.EncodedLen(list[i].Value)))
		}
	}
	return set
}

// settled is a cookie whose value is that long when it is written.
func settled(c *Cookie, value int) setCookie {
	return setCookie{c.Name, value, attributesLen(c), !c.HasMaxAge || c.MaxAge > 0}
}

// answerHeader is about how long the header of an answer is that sets these cookies, and leads to an address of that
// length.
func answerHeader(set []setCookie, location int) int {
	length := usualHeader + len("Location: \r\n") + location
	for _, c := range set {
		length += len("Set-Cookie: \r\n") + c.value + c.rest
	}
	return length
}

// attributesLen is the length of a Set-Cookie line but for the value.
func attributesLen(c *Cookie) int {
	var room [256]byte
	bare := cookie.Cookie(*c)
	bare.Value, bare.Expires = "", time.Time{}
	length := len(bare.Append(room[:0]))
	if !c.Expires.IsZero() { // a date is as long as any other
		length += len("; Expires=") + len(http.TimeFormat)
	}
	return length
}

// cookiesAfter is the length of our cookies in the requests that follow an answer with these.
func (f *browserFlows) cookiesAfter(answer []setCookie) int {
	set := f.c.cookies
	total := 0
	for _, spec := range [...]*cookieSpec{
		&set.csrf, &set.callbackURL, &set.state, &set.pkce, &set.nonce, &set.challenge, &set.askedLinks, &set.logout,
	} {
		value, there := f.c.jar.Raw(spec.name())
		length := len(value)
		for _, c := range answer {
			if c.name == spec.name() {
				length, there = c.value, c.stays
			}
		}
		if there {
			total += len(spec.name()) + len("=; ") + length
		}
	}
	return total + f.sessionAfter()
}

// sessionAfter is what the session adds to cookiesAfter.
func (f *browserFlows) sessionAfter() int {
	session := len(f.c.session.value())
	if session == 0 {
		return 0
	}
	return len(f.c.cookies.session.name()) + len("=; ") + min(session, usualSession)
}
