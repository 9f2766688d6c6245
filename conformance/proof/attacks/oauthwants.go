package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
)

// check compares the end of the story with the expected result.
func (s *story) check(name string, want any, refused bool) {
	if s.checkAnswer(name, want) || s.checkWorld(name, want) {
		return
	}
	switch name {
	case "token_calls", "access_token_calls":
		// A flow that must be refused may also be refused before the provider is called.
		limit, err := want.(json.Number).Int64()
		s.must(err)
		path := map[string]string{"token_calls": "/token", "access_token_calls": oauth1Path + "access"}[name]
		if got := int64(s.app.op.count(path)); got > limit || got < limit && !refused {
			s.failf("%d requests at the token endpoint, want %v", got, want)
		}
	case "at_most_one_error":
		if s.tabErrors > 1 == (want == true) {
			s.failf("a pair of tabs saw %d errors", s.tabErrors)
		}
	default:
		s.failf("want.%s is not known", name)
	}
}

// checkAnswer compares the last response with an expectation. It returns false if name is not about the response.
func (s *story) checkAnswer(name string, want any) bool {
	location := s.last.Header.Get("Location")
	switch name {
	case "status":
		s.checkStatus(fmt.Sprint(want))
	case "handled":
		if want != "locally, no loop" {
			s.failf("handled %v is not known", want)
		} else if leaves(location, home) != "" || strings.Contains(location, "/auth/callback/") {
			s.failf("sent on to %q", location)
		}
	case "parameters":
		if want != "arrive unbroken or refused" {
			s.failf("parameters %v is not known", want)
		} else if errorIn(s.last) == "" {
			s.arrived(location)
		}
	case "error":
		tooLong := s.last.Status == http.StatusRequestHeaderFieldsTooLarge // refused by the router
		got := errorIn(s.last)
		// A repeated callback may redirect the user whom the first callback signed in, instead of showing an error
		// page.
		ledOn := want == "Configuration" && got == "" && s.first != "" && leaves(location, home) == "" &&
			s.person("B1").who() == s.first
		if got != want && !tooLong && !ledOn {
			s.failf("answered %d to %q, want the error %v", s.last.Status, location, want)
		}
	case "started":
		if started := atOP(location); started != want {
			s.failf("a sign-in has begun: %v", started)
		}
	case "authorization_url":
		s.checkAuthorization(want, location)
	case "location_host":
		host, never := strings.CutPrefix(fmt.Sprint(want), "never ")
		if !never {
			s.failf("location_host %v is not known", want)
		}
		u, err := url.Parse(location)
		if err != nil || u.Hostname() == host || strings.Contains(u.Query().Get("callbackUrl"), host) {
			s.failf("the browser is sent to %q", location)
		}
	default:
		return false
	}
	return true
}

// checkWorld compares the session, the visible data or the stored data with an expectation. It returns false if name is
// not about these.
func (s *story) checkWorld(name string, want any) bool {
	b1 := s.person("B1")
	switch name {
	case "session":
		who := b1.who()
		if want == "of the first return" || want == "of the first" {
			if who == "" || who != s.first {
				s.failf("the session is of %q, after the first return of %q", who, s.first)
			}
		} else if want != (who != "") {
			s.failf("the session is of %q, want one: %v", who, want)
		}
	case "reflected":
		page := string(b1.page)
		if strings.Contains(string(s.last.Body)+page+s.last.Header.Get("Location"), "<script>alert") ||
			strings.Contains(page, "<script>") && !strings.Contains(page, "nonce=") ||
			strings.Contains(page, "javascript:") {
			s.failf("the provider's text is on the page")
		}
	case "identity":
		if want != "of the token endpoint" {
			s.failf("identity %v is not known", want)
		} else if b1.who() != b1.subject+"@op.example" {
			s.failf("signed in as %q", b1.who())
		}
	case "linked_to":
		s.oneOf("linked_to", fmt.Sprint(want), linkedTo...)
		for _, p := range s.people {
			owner := s.app.owner("a", p.subject)
			if owner == "u2@op.example" || owner == "u1@op.example" && want == "nobody" {
				s.failf("the account of %s is linked to %s", p.subject, owner)
			}
		}
	default:
		return false
	}
	return true
}

// checkStatus compares the last response with a list of allowed results.
func (s *story) checkStatus(list string) {
	for want := range strings.SplitSeq(list, " or ") {
		switch {
		case want == "error redirect":
			if s.last.Status/100 == 3 && errorIn(s.last) != "" {
				return
			}
		case len(want) == 3 && strings.HasSuffix(want, "xx"):
			if fmt.Sprint(s.last.Status/100) == want[:1] {
				return
			}
		case len(want) == 3 && strings.Trim(want, "0123456789") == "":
			if fmt.Sprint(s.last.Status) == want {
				return
			}
		default:
			s.failf("the status %q is not known", want)
		}
	}
	s.failf("answered %d to %q, want %s", s.last.Status, s.last.Header.Get("Location"), list)
}

// arrived checks that the redirect proxy passed on the complete authorization response.
func (s *story) arrived(location string) {
	u, err := url.Parse(location)
	s.must(err)
	for _, pair := range s.proxied.answer {
		if got := u.Query()[pair[0]]; len(got) != 1 || got[0] != pair[1] {
			s.failf("%s arrives as %q at %q", pair[0], got, location)
		}
	}
	if u.Fragment != "" {
		s.failf("a part of %q stays in the browser", location)
	}
}

// checkAuthorization checks the authorization request.
func (s *story) checkAuthorization(want any, location string) {
	u, err := url.Parse(location)
	s.must(err)
	if rest, ok := strings.CutSuffix(fmt.Sprint(want), " or refused, never plain"); ok {
		method := u.Query().Get("code_challenge_method")
		if atOP(location) && method != rest || !atOP(location) && errorIn(s.last) == "" {
			s.failf("the code challenge's method is %q: %q", method, location)
		}
		return
	}
	if s.last.Status != http.StatusFound && s.last.Status != http.StatusSeeOther || !atOP(location) {
		s.failf("no sign-in began: %d to %q", s.last.Status, location)
		return
	}
	got := u.Query()
	switch want {
	case "keeps our own value, or drops the parameter", "keeps our own values":
		for name, ours := range map[string]func(string) bool{
			"redirect_uri":          func(v string) bool { return v == home+"/auth/callback/a" },
			"client_id":             func(v string) bool { return v == clientID },
			"response_type":         func(v string) bool { return v == "code" },
			"response_mode":         func(v string) bool { return v == "" },
			"state":                 func(v string) bool { return len(v) >= 22 },
			"nonce":                 func(v string) bool { return v == "" },
			"code_challenge":        func(v string) bool { return len(v) == 43 },
			"code_challenge_method": func(v string) bool { return v == "S256" },
			"request":               func(v string) bool { return v == "" },
			"request_uri":           func(v string) bool { return v == "" },
		} {
			if len(got[name]) > 1 || !ours(got.Get(name)) {
				s.failf("%s is %q", name, got[name])
			}
		}
	case "one scope parameter":
		if len(got["scope"]) != 1 {
			s.failf("scope is %q", got["scope"])
		}
	case "no state=fixed":
		if got.Get("state") == "fixed" {
			s.failf("state=fixed goes out")
		}
	case "carries the three":
		if got.Get("scope") != "x" || got.Get("prompt") != "consent" || got.Get("login_hint") != "a@b.c" {
			s.failf("scope %q, prompt %q, login_hint %q", got.Get("scope"), got.Get("prompt"), got.Get("login_hint"))
		}
	default:
		s.failf("authorization_url %v is not known", want)
	}
}
