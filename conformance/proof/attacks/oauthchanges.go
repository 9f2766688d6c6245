package main

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// changes are the sentences for modified callbacks.
var changes = []struct {
	pattern *regexp.Regexp
	do      func(s *story, p *person, r *flow, m []string)
}{
	{regexp.MustCompile(`^ with (B\d)'s code and state`), func(s *story, _ *person, r *flow, m []string) {
		other := s.person(m[1])
		*r = other.flows[other.latest]
	}},
	{regexp.MustCompile(`^ with (B\d)'s code`), func(s *story, _ *person, r *flow, m []string) {
		other := s.person(m[1])
		*r = other.flows[other.latest]
	}},
	{regexp.MustCompile(`^ to callback/(\w) with the code, state and cookies of (\w)`),
		func(_ *story, p *person, r *flow, m []string) {
			*r = p.flows[m[2]]
			r.redirectURI = home + "/auth/callback/" + m[1]
		}},
	{regexp.MustCompile(`^ to callback/(\w) with (\w)'s code and (\w)'s (state|verifier|nonce) cookie`),
		func(s *story, p *person, r *flow, m []string) {
			*r = p.flows[m[2]]
			r.redirectURI = home + "/auth/callback/" + m[1]
			other := s.person("B9") // this browser has no flow of the right provider
			s.start(other, m[3])
			p.cookies[checkCookie(m[4])] = other.cookies[checkCookie(m[4])]
		}},
	{regexp.MustCompile(`^ with the cookies still in the jar`), func(*story, *person, *flow, []string) {}},
	{regexp.MustCompile(`^ again(?: with the same URL)?`), func(*story, *person, *flow, []string) {}},
	{regexp.MustCompile(`^ without (\w+)`), func(s *story, _ *person, r *flow, m []string) {
		s.oneOf("parameter", m[1], "code", "state", "iss", "oauth_token", "oauth_verifier")
		r.answer = slices.DeleteFunc(slices.Clone(r.answer), func(pair [2]string) bool { return pair[0] == m[1] })
	}},
	{regexp.MustCompile(`^ beside the code`), func(*story, *person, *flow, []string) {}},
	{regexp.MustCompile(`^ with an? (\w+) of (\d+) ?(MB|kB|bytes)`), func(s *story, _ *person, r *flow, m []string) {
		text, known := filler("{" + m[2] + strings.TrimSuffix(m[3], "bytes") + "}")
		if !known {
			s.failf("the size %s %s is not known", m[2], m[3])
		}
		s.override(r, m[1]+"="+text)
	}},
	{regexp.MustCompile(`^ ((?:[\w%.\[\]-]+=(?:\{[^}]*\}|[^ &{])*&?)+)`),
		func(s *story, _ *person, r *flow, m []string) { s.override(r, m[1]) }},
}

var (
	othersValue = regexp.MustCompile(`\{(B\d)'s (\w+)\}`)
	leftOpen    = regexp.MustCompile(`\{[^}]*\}`)
)

// override replaces parameters. "good" and {good} are the correct value, {B2's state} is another browser's state, {64k}
// is a text of this length, and percent escapes are decoded. Any other text is used literally.
func (s *story) override(r *flow, list string) {
	genuine := *r
	replaced := map[string]bool{}
	for pair := range strings.SplitSeq(list, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if !replaced[name] {
			replaced[name] = true
			r.answer = slices.DeleteFunc(slices.Clone(r.answer), func(pair [2]string) bool { return pair[0] == name })
		}
		if meant, err := url.PathUnescape(value); err == nil {
			value = meant
		}
		if value == "good" {
			value = "{good}"
		}
		value = leftOpen.ReplaceAllStringFunc(value, func(word string) string {
			if m := othersValue.FindStringSubmatch(word); m != nil {
				other := s.person(m[1])
				if other.latest == "" {
					s.start(other, genuine.provider)
				}
				return other.flows[other.latest].get(m[2])
			}
			if word == "{good}" {
				return genuine.get(name)
			}
			text, known := filler(word)
			if !known {
				s.failf("%q is not known", word)
			}
			return text
		})
		r.answer = append(r.answer, [2]string{name, value})
	}
}

func (s *story) comeBack(p *person, how string) {
	f := p.flows[p.latest]
	for how != "" {
		rest := how
		for _, change := range changes {
			if m := change.pattern.FindStringSubmatch(how); m != nil {
				change.do(s, p, &f, m)
				rest = how[len(m[0]):]
				break
			}
		}
		if rest == how {
			s.failf("of the return, %q is not understood", how)
			return
		}
		how = rest
	}
	method := "GET"
	if f.provider == "f" {
		method = "POST"
	}
	s.deliver(p, method, f.redirectURI, f.answer)
}

// proxy sends an authorization response to the redirect proxy, from a browser without a flow.
func (s *story) proxy(how string) {
	answer := s.proxied.answer
	switch how {
	case "", " with that state":
		if answer == nil {
			return // no sign-in started, so there is no such state
		}
	case " whose state names the proxy itself":
		s.forge("origin", home+"/auth/callback/x")
		answer = s.proxied.answer
	case " with a state that does not decrypt":
		answer = [][2]string{{"code", "x"}, {"state", "eyJhbGciOiJkaXIiLCJlbmMiOiJBMjU2Q0JDLUhTNTEyIn0..AAAA.AAAA.AAAA"}}
	case " with an expired state":
		b := s.person("B1")
		b.origin = "https://pr-7.preview.app.example"
		s.start(b, "x")
		answer = s.proxied.answer
		s.app.wait(time.Hour)
	default:
		s.failf("of the proxy, %q is not understood", how)
		return
	}
	s.last = s.app.browser("").get("/auth/callback/x?" + query(answer))
}
