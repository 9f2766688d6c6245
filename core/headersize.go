package core

import "github.com/latchkey-go/latchkey/core/internal/cookie"

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

// fits reports whether the header of an answer with these cookies, and the cookies that the browser has afterwards, are
// short enough (docs/protocol.md §3.6).
func (f *browserFlows) fits(cookies []Cookie, location int, several bool) bool {
	opening := f.c.opening()
	answer := usualHeader + len("Location: \r\n") + location
	for _, list := range [][]Cookie{opening, cookies} {
		for _, c := range list {
			var room [1024]byte
			answer += len("Set-Cookie: \r\n") + len(cookie.Cookie(c).Append(room[:0]))
		}
	}
	limit := maxCookiesOfOne
	if several {
		limit = maxCookies
	}
	return answer <= maxAnswerHeader && f.cookiesAfter(append(opening, cookies...)) <= limit
}

// cookiesAfter is the length of our cookies in the requests that follow an answer with these.
func (f *browserFlows) cookiesAfter(cookies []Cookie) int {
	set := f.c.cookies
	total := 0
	specs := []*cookieSpec{
		&set.csrf, &set.callbackURL, &set.state, &set.pkce, &set.nonce, &set.challenge, &set.askedLinks,
	}
	for _, spec := range specs {
		value, there := f.c.jar.Get(spec.name())
		for _, c := range cookies {
			if c.Name == spec.name() {
				value, there = c.Value, !c.HasMaxAge || c.MaxAge > 0
			}
		}
		if there {
			total += len(spec.name()) + len("=; ") + cookie.EncodedLen(value)
		}
	}
	if session := len(f.c.session.value()); session > 0 {
		total += len(set.session.name()) + len("=; ") + min(session, usualSession)
	}
	return total
}
