package main

import (
	"net/url"
	"sync"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// twoTabs are two tabs of one browser.
type twoTabs struct {
	who       string
	providers [2]string
	times     int
}

// bothReturn starts a flow in each tab concurrently and then returns with both callbacks, concurrently in every other
// round. Each round uses a browser without cookies. As in a browser, a later cookie overwrites an earlier one.
func (s *story) bothReturn() {
	if s.tabs == nil {
		s.failf("nobody has two tabs")
		return
	}
	p := s.person(s.tabs.who)
	for round := range s.tabs.times {
		p.cookies = map[string]string{}
		body := url.Values{"csrfToken": {p.csrf()}}.Encode()
		starts := s.inTabs(p, true, func(tab int) wire.Request {
			return wire.Request{
				Method: "POST", Target: "/auth/signin/" + s.tabs.providers[tab], Body: &body,
				Header: [][2]string{{"Content-Type", formType}},
			}
		})
		errors := 0
		var targets [2]string
		for tab, start := range starts {
			location := start.Header.Get("Location")
			if !atOP(location) {
				s.failf("tab %d: no sign-in began: %d to %q", tab, start.Status, location)
				return
			}
			_, answer := s.app.op.authorize(location, p.subject)
			targets[tab] = "/auth/callback/" + s.tabs.providers[tab] + "?" + query(answer)
		}
		returns := s.inTabs(p, round%2 == 0, func(tab int) wire.Request {
			return wire.Request{Method: "GET", Target: targets[tab]}
		})
		for tab, answer := range returns {
			if s.failed(p, tab, answer) {
				errors++
			}
			s.last = answer
		}
		s.tabErrors = max(s.tabErrors, errors)
	}
}

// failed reports whether a tab returned with an error. A tab without an error has signed the person in.
func (s *story) failed(p *person, tab int, answer wire.Answer) bool {
	if answer.Status != 302 {
		s.failf("tab %d: answered %d", tab, answer.Status)
		return false
	}
	if errorIn(answer) != "" {
		return true
	}
	own := s.app.browser("")
	own.keep(answer)
	if who := own.who(); who != p.subject+"@op.example" {
		s.failf("tab %d: signed in as %q", tab, who)
	}
	return false
}

// inTabs sends a request in each tab: concurrently with the browser's current cookies, or one after the other.
func (s *story) inTabs(p *person, atOnce bool, request func(tab int) wire.Request) [2]wire.Answer {
	var answers [2]wire.Answer
	var errs [2]error
	var all sync.WaitGroup
	for tab := range answers {
		r := request(tab)
		r.Header = append([][2]string{{"Host", "app.example"}, p.cookieLine()}, r.Header...)
		send := func() { answers[tab], errs[tab] = wire.Send(s, s.app.address, s.app.secure, r) }
		if atOnce {
			all.Go(send)
			continue
		}
		send()
		p.keep(answers[tab])
	}
	all.Wait()
	for tab := range answers {
		s.must(errs[tab])
		if atOnce {
			p.keep(answers[tab])
		}
	}
	return answers
}

// forge creates a state that the redirect proxy accepts, because its secret is known to the attacker.
func (s *story) forge(claim, value string) {
	token := &core.Token{}
	s.must(token.Extra.Set(claim, value))
	s.must(token.Extra.Set("random", "forged"))
	state, err := s.app.EncodeToken(token, "encodedState", 15*time.Minute)
	s.must(err)
	s.proxied = flow{provider: "x", answer: [][2]string{{"code", "code-forged"}, {"state", state}}}
}
