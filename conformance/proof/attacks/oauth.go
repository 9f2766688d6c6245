package main

import (
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// story is a sequence of steps with several browsers (docs/protocol.md §8.2 to §8.4, §8.10). The steps are sentences.
// An unknown sentence is an error.
type story struct {
	*attack
	app    *app
	people map[string]*person
	last   wire.Answer
	// first is the user who was signed in after the first callback.
	first string
	// proxied is the state of the last flow of a provider behind the redirect proxy.
	proxied flow
	// tabs are two tabs that are about to start and return concurrently. tabErrors is the maximum number of errors in a
	// pair.
	tabs      *twoTabs
	tabErrors int
}

// person is a user or an attacker, with a browser.
type person struct {
	*browser
	flows   map[string]flow // by provider
	latest  string          // provider of the last flow
	lastURL string          // URL of the last callback
	checks  map[string]string
	page    []byte
}

// flow is a sign-in in progress: the authorization request and its response.
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

// authorization runs a story and checks the result.
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

// person returns the person with a name.
func (s *story) person(name string) *person {
	if s.people[name] == nil {
		s.people[name] = &person{browser: s.app.browser("account-of-" + strings.ToLower(name)), flows: map[string]flow{}}
	}
	return s.people[name]
}

// steps are the known sentences, in the order in which they are matched.
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
	{regexp.MustCompile(`^(B\d) (POST|GET) the return(?: of (B\d))?(?: as a form)?( cross-site)?$`),
		func(s *story, m []string) {
			var lines [][2]string
			if m[4] != "" {
				lines = [][2]string{{"Origin", issuer}, {"Sec-Fetch-Site", "cross-site"}}
			}
			p := s.person(m[1])
			from := p
			if m[3] != "" {
				from = s.person(m[3])
			}
			s.deliver(p, m[2], from.flows[from.latest].redirectURI, from.flows[from.latest].answer, lines...)
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

// signIn signs in with provider b, always with the same account.
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

// start starts a sign-in and authorizes it at the provider.
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

// deliver sends an authorization response to the application.
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

// patiently sends a request. If the server closes the connection because of the request's length, it refused it.
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
