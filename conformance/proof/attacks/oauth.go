package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/rig/wire"
	"github.com/latchkey-go/latchkey/core"
)

// story is a sequence of steps with several browsers (docs/protocol.md §8.2 to §8.4, §8.10). Steps are sentences; one
// that is not understood fails.
type story struct {
	*attack
	app    *app
	people map[string]*person
	last   wire.Answer
	// first is the user who was signed in after the first return.
	first string
	// proxied is the state of the last start at a provider behind the redirect proxy.
	proxied flow
	// tabs are two that are about to start and return at once, tabErrors the most errors that a pair of them saw.
	tabs      *twoTabs
	tabErrors int
}

// person is a visitor, honest or not, with a browser.
type person struct {
	*browser
	flows   map[string]flow // by provider
	latest  string          // provider of the last start
	lastURL string          // of the last return
	checks  map[string]string
	page    []byte
}

// flow is a sign-in under way: the authorization request and its answer.
type flow struct {
	provider, location, redirectURI string
	answer                          [][2]string
}

func (f flow) get(name string) string {
	for _, pair := range f.answer {
		if pair[0] == name {
			return pair[1]
		}
	}
	return ""
}

// authorization tells a story and looks at its end.
func authorization(a *attack) {
	var p struct {
		ID, Why, Authjs string
		Do              []string
		Want            map[string]any
	}
	a.read(&p)
	s := &story{attack: a, people: map[string]*person{}}
	s.app = a.open(func(c *core.Config) {
		x := c.Providers[0].(*core.OAuthProvider)
		proxied := *x
		proxied.ID, proxied.RedirectProxyURL = "x", home+"/auth"
		c.Providers = append(c.Providers, &proxied, s.oauth1())
		c.URL, c.TrustedHosts = "", []string{"app.example", "preview.app.example", "*.preview.app.example"}
		c.RedirectProxyTargets = []string{"https://preview.app.example", "https://*.preview.app.example"}
	})
	for _, step := range slices.Collect(s.sentences(p.Do)) {
		if !s.step(step) {
			a.failf("the step %q is not understood", step)
			return
		}
	}
	for name, want := range p.Want {
		s.check(name, want, p.Want["error"] != nil)
	}
}

// person returns the visitor of a name.
func (s *story) person(name string) *person {
	if s.people[name] == nil {
		s.people[name] = &person{browser: s.app.browser("account-of-" + strings.ToLower(name)), flows: map[string]flow{}}
	}
	return s.people[name]
}

// steps are the sentences, in the order in which they are tried.
var steps = []struct {
	pattern *regexp.Regexp
	do      func(s *story, m []string)
}{
	{regexp.MustCompile(`^wait (\d+) (min|s|h)$`), func(s *story, m []string) {
		d, err := time.ParseDuration(m[1] + strings.TrimSuffix(m[2], "in"))
		s.must(err)
		s.app.wait(d)
	}},
	{regexp.MustCompile(`^(B\d) signed in as (u\d)$`), func(s *story, m []string) { s.signIn(s.person(m[1]), m[2]) }},
	{regexp.MustCompile(`^(B\d) sign out, sign in as (u\d)$`), func(s *story, m []string) {
		p := s.person(m[1])
		p.submit("/auth/signout")
		s.signIn(p, m[2])
	}},
	{regexp.MustCompile(`^(B\d) start (\w) on ([\w.-]+)(?: \(listed\))?$`), func(s *story, m []string) {
		p := s.person(m[1])
		p.origin = "https://" + m[3]
		s.start(p, m[2])
	}},
	{regexp.MustCompile(`^(B\d) start (\w) with ([\w-]+) (\S+)$`),
		func(s *story, m []string) { s.start(s.person(m[1]), m[2], [2]string{m[3], m[4]}) }},
	{regexp.MustCompile(`^(B\d) start (\w)$`), func(s *story, m []string) { s.start(s.person(m[1]), m[2]) }},
	{regexp.MustCompile(`^(B\d) swap the (verifier|state|nonce) cookie for one of provider (\w)$`),
		func(s *story, m []string) {
			p, other := s.person(m[1]), s.person("B9")
			s.start(other, m[3])
			p.cookies[checkCookie(m[2])] = other.cookies[checkCookie(m[2])]
		}},
	{regexp.MustCompile(`^(B\d) drop the (verifier|state|nonce) cookie$`),
		func(s *story, m []string) { delete(s.person(m[1]).cookies, checkCookie(m[2])) }},
	{regexp.MustCompile(`^(B\d) change one byte of the (verifier|state|nonce) cookie$`), func(s *story, m []string) {
		p, name := s.person(m[1]), checkCookie(m[2])
		p.cookies[name] = flipped(p.cookies[name], len(p.cookies[name])/2)
	}},
	{regexp.MustCompile(`^(B\d) put the state parameter's own text into the (verifier|state|nonce) cookie$`),
		func(s *story, m []string) {
			p := s.person(m[1])
			p.cookies[checkCookie(m[2])] = p.flows[p.latest].get("state")
		}},
	{regexp.MustCompile(`^(B\d) put the check cookies back$`),
		func(s *story, m []string) { maps.Copy(s.person(m[1]).cookies, s.person(m[1]).checks) }},
	{regexp.MustCompile(`^(B\d) gets (B\d)'s check cookies planted$`),
		func(s *story, m []string) { maps.Copy(s.person(m[1]).cookies, s.person(m[2]).checks) }},
	{regexp.MustCompile(`^(B\d) (POST|GET) the return(?: as a form)?( cross-site)?$`), func(s *story, m []string) {
		var lines [][2]string
		if m[3] != "" {
			lines = [][2]string{{"Origin", issuer}, {"Sec-Fetch-Site", "cross-site"}}
		}
		p := s.person(m[1])
		s.deliver(p, m[2], p.flows[p.latest].redirectURI, p.flows[p.latest].answer, lines...)
	}},
	{regexp.MustCompile(`^(B\d) GET signin/(\w) from a foreign page$`), func(s *story, m []string) {
		s.last = s.person(m[1]).get("/auth/signin/"+m[2],
			[2]string{"Referer", "https://evil.example/"}, [2]string{"Sec-Fetch-Site", "cross-site"})
	}},
	{regexp.MustCompile(`^(B\d) POST signin/(\w) without CSRF token from a foreign page$`), func(s *story, m []string) {
		s.last = s.person(m[1]).ask("POST", "/auth/signin/"+m[2], formType, "",
			[2]string{"Origin", "https://evil.example"}, [2]string{"Sec-Fetch-Site", "cross-site"})
	}},
	{regexp.MustCompile(`^(B\d) POST signin/(\w)\?(\S+)$`),
		func(s *story, m []string) { s.last = s.person(m[1]).submit("/auth/signin/" + m[2] + "?" + m[3]) }},
	{regexp.MustCompile(`^(B\d) POST signin/(\w) with (authorizationParams-\S+)$`), func(s *story, m []string) {
		fields, err := url.ParseQuery(m[3])
		s.must(err)
		pairs := []string{"providerId", m[2]}
		for name := range fields {
			pairs = append(pairs, name, fields.Get(name))
		}
		s.last = s.person(m[1]).submit("/signin", pairs...)
	}},
	{regexp.MustCompile(`^(B\d) start (\w) where discovery (lists only|says|lacks) (\w+)[ =]?(\S*)$`),
		func(s *story, m []string) {
			name, value := m[4], any(m[5])
			switch m[3] {
			case "lists only":
				name, value = strings.TrimSuffix(name, "s_supported")+"s_supported", []any{m[5]}
			case "lacks":
				value = "$del"
			}
			s.app.op.mu.Lock()
			s.app.op.odd = &oddAnswer{Endpoint: "discovery", Body: map[string]any{name: value}}
			s.app.op.mu.Unlock()
			s.start(s.person(m[1]), m[2])
		}},
	{regexp.MustCompile(`^(B\d) start (\w)(?: and (\w))? in two tabs at once(?:, (\d+) times)?$`),
		func(s *story, m []string) {
			times, err := strconv.Atoi(or(m[4], "1"))
			s.must(err)
			s.tabs = &twoTabs{who: m[1], providers: [2]string{m[2], or(m[3], m[2])}, times: times}
		}},
	{regexp.MustCompile(`^both return$`), func(s *story, _ []string) { s.bothReturn() }},
	{regexp.MustCompile(`^forge a state whose (\w+) is (\S+)$`), func(s *story, m []string) { s.forge(m[1], m[2]) }},
	{regexp.MustCompile(`^proxy return(.*)$`), func(s *story, m []string) { s.proxy(m[1]) }},
	{regexp.MustCompile(`^(B\d) return there$`), func(s *story, m []string) {
		u, err := url.Parse(s.last.Header.Get("Location"))
		s.must(err)
		s.last = s.person(m[1]).get(u.RequestURI())
	}},
	{regexp.MustCompile(`^(B\d) return(.*)$`), func(s *story, m []string) { s.comeBack(s.person(m[1]), m[2]) }},
}

func (s *story) step(sentence string) bool {
	for _, step := range steps {
		if m := step.pattern.FindStringSubmatch(sentence); m != nil {
			step.do(s, m)
			return true
		}
	}
	return false
}

func checkCookie(what string) string {
	if what == "verifier" {
		what = "pkce.code_verifier"
	}
	return "__Secure-authjs." + what
}

func flipped(s string, at int) string {
	if at >= len(s) {
		return s
	}
	c := byte('A')
	if s[at] == c {
		c = 'B'
	}
	return s[:at] + string(c) + s[at+1:]
}

// signIn signs in through provider b, always with the same account.
func (s *story) signIn(p *person, subject string) {
	location := p.submit("/auth/signin/b").Header.Get("Location")
	_, answer := s.app.op.authorize(location, subject)
	p.get("/auth/callback/b?" + query(answer))
	if p.who() != subject+"@op.example" {
		s.failf("%s could not sign in", subject)
	}
	s.app.op.mu.Lock()
	clear(s.app.op.requests)
	s.app.op.mu.Unlock()
}

// start begins a sign-in and lets the person through at the provider.
func (s *story) start(p *person, provider string, lines ...[2]string) {
	s.last = p.ask("POST", "/auth/signin/"+provider, formType, p.form().Encode(), lines...)
	f := flow{provider: provider, location: s.last.Header.Get("Location")}
	if strings.HasPrefix(f.location, issuer+oauth1Path) {
		f.redirectURI, f.answer = s.app.op.authorize1(f.location, p.subject)
	} else if atOP(f.location) {
		f.redirectURI, f.answer = s.app.op.authorize(f.location, p.subject)
	}
	p.flows[provider], p.latest = f, provider
	if provider == "x" {
		s.proxied = f
	}
	p.checks = map[string]string{}
	for name, value := range p.cookies {
		if strings.Contains(name, "state") || strings.Contains(name, "pkce") || strings.Contains(name, "nonce") {
			p.checks[name] = value
		}
	}
}

// deliver brings an answer of the provider to the application.
func (s *story) deliver(p *person, method, redirectURI string, answer [][2]string, lines ...[2]string) {
	u, err := url.Parse(redirectURI)
	s.must(err)
	target, body, kind := u.Path, "", ""
	if method == "POST" {
		body, kind = query(answer), formType
	} else {
		target += "?" + query(answer)
	}
	s.last = s.patiently(len(target)+len(body), func() wire.Answer { return p.ask(method, target, kind, body, lines...) })
	p.lastURL = target
	if location := s.last.Header.Get("Location"); errorIn(s.last) != "" && leaves(location, p.origin) == "" {
		where, err := url.Parse(location)
		s.must(err)
		p.page = p.get(where.RequestURI()).Body
	}
	if who := p.who(); s.first == "" {
		s.first = who
	}
}

// patiently makes an exchange. A server that hangs up on a request of this length has refused it.
func (*story) patiently(length int, exchange func() wire.Answer) (answer wire.Answer) {
	const mostOfARequest = 32 << 10
	if length > mostOfARequest {
		defer func() {
			if v := recover(); v != nil {
				if _, hungUp := v.(gaveUp); !hungUp {
					panic(v)
				}
				answer = wire.Answer{Status: http.StatusRequestHeaderFieldsTooLarge}
			}
		}()
	}
	return exchange()
}

// changes are the ways to speak of an altered return.
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
			other := s.person("B9") // whose browser has no flow of the right provider
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

// override replaces parameters: good and {good} stand for the right value, {B2's state} for another browser's, {64k}
// for so much text, percent escapes for what they mean, anything else for itself.
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

// proxy brings an answer of the provider to the redirect proxy, from a browser that has nothing to do with it.
func (s *story) proxy(how string) {
	answer := s.proxied.answer
	switch how {
	case "", " with that state":
		if answer == nil {
			return // no sign-in began: there is no such state
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

// check holds the end of the story against what is wanted.
func (s *story) check(name string, want any, refused bool) {
	if s.checkAnswer(name, want) || s.checkWorld(name, want) {
		return
	}
	switch name {
	case "token_calls", "access_token_calls":
		// What must be refused may be refused before the provider is asked.
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

// checkAnswer holds the last answer against what is wanted of it; false: the name is none of an answer.
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
		if got := errorIn(s.last); got != want && !tooLong {
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

// checkWorld holds who is signed in, what they see and what is stored against what is wanted; false: the name is none
// of these.
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

// checkStatus holds the last answer against a list of what it may be.
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

// arrived looks whether the provider's answer got through the redirect proxy whole.
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

// checkAuthorization looks at the request that goes to the provider.
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
			"state":                 func(v string) bool { return len(v) > 40 },
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
