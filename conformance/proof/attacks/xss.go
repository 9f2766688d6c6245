package main

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/conformance/rig/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/ui"
)

// markup puts one value into every place from which it might reach a page or a letter.
type markup struct {
	*attack
	value string
	shared
}

// shared are applications for the places that need no configuration of their own.
type shared struct {
	// pinned has its origin from the configuration, open from the request.
	pinned, open *browser
}

// markups draws every place with the value, and holds what comes of it against what harmless texts make of the place
// (docs/protocol.md §7.11): elements and attributes must be the same.
func markups(a *attack) {
	var p struct{ ID, Value, Why, Authjs string }
	a.read(&p)
	a.cleartext = true
	if len(a.file.Places) == 0 {
		a.failf("the file lists no places")
	}
	m := &markup{attack: a, value: p.Value}
	for _, place := range a.file.Places {
		draw, words := m.placed(place)
		if draw == nil {
			a.failf("the place %q is not known", place)
			continue
		}
		harmless := a.harmless(place)
		for _, d := range draw(m, words) {
			if d.refused {
				continue
			}
			got, problems := d.tree(p.Value)
			for _, problem := range problems {
				a.failf("%s, %s: %s", place, d.what, problem)
			}
			if likely := harmless[d.what]; !likely[got] {
				a.failf("%s, %s: the document is another: %s", place, d.what, closest(got, likely))
			}
		}
	}
	for _, b := range []*browser{m.pinned, m.shared.open} {
		if b != nil {
			b.alive()
		}
	}
}

// closest tells how a tree differs from the one of those that are right.
func closest(got string, likely map[string]bool) (line string) {
	if len(likely) == 0 {
		return "with a harmless text there is none"
	}
	for want := range likely {
		if l := differingLine(got, want); line == "" || len(l) < len(line) {
			line = l
		}
	}
	return line
}

// harmlessTexts are of the kinds that a place may tell apart: a word, a path, a URL of the site and one of another, a
// colour, a picture, none. The values of the payloads are one of these too, and are drawn as one of them is.
var harmlessTexts = []string{
	"zzz", "/zzz", home + "/zzz", "https://zzz.example/zzz", "red", "data:image/png;base64,AA==", "", "zzz@app.example",
}

// drawnBefore are the trees of harmless texts, by adapter and place, as functions that find them out once.
var drawnBefore sync.Map

// harmless are the trees that a place may have, by document.
func (a *attack) harmless(place string) map[string]map[string]bool {
	find := func() (map[string]map[string]bool, error) {
		trees := map[string]map[string]bool{}
		own := &attack{Context: a.Context, adapter: a.adapter, file: a.file, cleartext: true, nested: true}
		own.run(func(own *attack) {
			for _, text := range harmlessTexts {
				m := &markup{attack: own, value: text}
				draw, words := m.placed(place)
				for _, d := range draw(m, words) {
					if trees[d.what] == nil {
						trees[d.what] = map[string]bool{}
					}
					if !d.refused {
						lines, _ := d.tree(text)
						trees[d.what][lines] = true
					}
				}
			}
		})
		a.problems = append(a.problems, own.problems...)
		return trees, nil
	}
	once, _ := drawnBefore.LoadOrStore(a.adapter+" "+place, sync.OnceValues(find))
	trees, _ := once.(func() (map[string]map[string]bool, error))()
	return trees
}

// visitor is a browser at an application without a configuration of its own.
func (m *markup) visitor() *browser {
	if m.pinned == nil {
		m.pinned = m.attack.open(func(c *core.Config) { c.InsecureNoLimits = true }).browser("u1")
	}
	return m.pinned
}

// anyhost is a browser at an application that takes its origin from requests.
func (m *markup) anyhost() *browser {
	if m.shared.open == nil {
		m.shared.open = m.attack.open(func(c *core.Config) {
			c.InsecureNoLimits = true
			c.URL, c.TrustHost = "", core.On
		}).browser("u1")
	}
	return m.shared.open
}

// page is an answer as a document. A refusal without markup is none.
func page(what string, answer wire.Answer) document {
	d := document{what: what, body: string(answer.Body)}
	d.refused = !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html")
	return d
}

// asked makes a request and follows where the answer leads on the site.
func (m *markup) asked(what string, b *browser, ask func() (wire.Answer, error)) []document {
	answer, err := ask()
	if err != nil { // the server hung up
		return []document{{what: what, refused: true}}
	}
	list := []document{page(what, answer)}
	if location := answer.Header.Get("Location"); location != "" && leaves(location, home) == "" {
		u, err := url.Parse(location)
		m.must(err)
		list = append(list, page(what+", where it leads", b.get(u.RequestURI())))
	}
	return list
}

// got makes a request that a server may refuse to read.
func (m *markup) got(what string, b *browser, method, target string, lines ...[2]string) []document {
	return m.asked(what, b, func() (wire.Answer, error) {
		r := wire.Request{Method: method, Target: target, Header: [][2]string{{"Host", "app.example"}}}
		for _, line := range lines {
			if line[0] == "Host" {
				r.Header[0] = line
				continue
			}
			r.Header = append(r.Header, line)
		}
		return b.send(r)
	})
}

// configured draws pages of an application whose configuration holds the value.
func (m *markup) configured(change func(c *core.Config), pages ...string) (list []document) {
	x, refused := m.opened(func(c *core.Config) { c.InsecureNoLimits = true; change(c) })
	if refused {
		return []document{{what: "configuration", refused: true}}
	}
	b := x.browser("u1")
	for _, target := range pages {
		list = append(list, page(target, b.get(target)))
	}
	return list
}

// letters are the letters of an application, as the senders of package providers write them.
func (m *markup) letters(x *app, alter func(mail *core.SignInMail)) (list []document) {
	for _, mail := range x.mailed() {
		if alter != nil {
			alter(&mail)
		}
		letter, err := providers.SignInLetter(mail)
		m.must(err)
		list = append(list, document{what: "letter", body: letter.HTML},
			document{what: "text", body: letter.Text, plain: true}, document{what: "subject", body: letter.Subject, plain: true})
	}
	return list
}

// mailedTo asks for a letter with further fields and lines in the request.
func (m *markup) mailedTo(x *app, fields url.Values, lines ...[2]string) {
	b := x.browser("u1")
	fields.Set("csrfToken", b.csrf())
	if !fields.Has("email") {
		fields.Set("email", "ada@app.example")
	}
	body := fields.Encode()
	_, _ = x.send(wire.Request{
		Method: "POST", Target: "/auth/signin/email", Body: &body,
		Header: append([][2]string{{"Content-Type", formType}, b.cookieLine()}, lines...),
	})
}

// profiled signs in at a provider whose profile holds the value, and draws what the application shows of it.
func (m *markup) profiled(name string) []document {
	x := m.attack.open(func(c *core.Config) { c.InsecureNoLimits = true })
	x.op.describe("u1", map[string]any{name: m.value})
	b := x.browser("u1")
	x.signInAt(b, "a")
	return []document{
		page("components", b.get("/components")), page("sign-out", b.get("/auth/signout")),
		page("sign-in", b.get("/auth/signin")),
	}
}

// ofFirst changes the first provider of a configuration, which is the application's own copy.
func ofFirst(c *core.Config, change func(p *core.OAuthProvider)) {
	change(c.Providers[0].(*core.OAuthProvider))
}

// ofCredentials changes the form of the provider of passwords.
func ofCredentials(c *core.Config, name string, change func(f *core.Field)) {
	for _, p := range c.Providers {
		if p, ok := p.(*core.CredentialsProvider); ok {
			field := core.Field{Name: name}
			change(&field)
			p.Fields = []core.Field{field, {Name: "password", Type: "password"}}
		}
	}
}

// placed finds how to draw a place, by the words of the file.
func (*markup) placed(place string) (draw func(m *markup, words []string) []document, words []string) {
	for _, p := range markupPlaces {
		if words := p.pattern.FindStringSubmatch(place); words != nil {
			return p.draw, words
		}
	}
	return nil, nil
}

// sessionOf shows a session whose user has the value in every field.
func sessionOf(value string) func(c *core.Config) {
	return func(c *core.Config) {
		c.Callbacks.Session = func(_ context.Context, p core.SessionParams) (*core.Session, error) {
			p.Session.User.Name, p.Session.User.Email, p.Session.User.Image = value, value, value
			return p.Session, nil
		}
	}
}

// refusedBy is the header of a request that holds what no header may: a server hangs up, or answers itself.
func refusedBy(value string) bool { return strings.ContainsAny(value, "\r\n\x00") }

var markupPlaces = []struct {
	pattern *regexp.Regexp
	draw    func(m *markup, words []string) []document
}{
	{regexp.MustCompile(`^(\S+)\?<any other name>$`), func(m *markup, words []string) []document {
		v := url.QueryEscape(m.value)
		return m.got("page", m.visitor(), "GET", "/auth/"+words[1]+"?"+v+"="+v+"&other="+v)
	}},
	{regexp.MustCompile(`^([\w-]+)\?([\w.-]+)$`), func(m *markup, words []string) []document {
		return m.got("page", m.visitor(), "GET", "/auth/"+words[1]+"?"+words[2]+"="+url.QueryEscape(m.value))
	}},
	{regexp.MustCompile(`^(signin|callback|webauthn-options)/<provider id>$`), func(m *markup, words []string) []document {
		target := "/auth/" + words[1] + "/" + url.PathEscape(m.value)
		b := m.visitor()
		return append(m.got("page", b, "GET", target), m.asked("post", b, func() (wire.Answer, error) {
			return b.submit(target), nil
		})...)
	}},
	{regexp.MustCompile(`^([A-Za-z-]+) header$`), func(m *markup, words []string) (list []document) {
		if refusedBy(m.value) {
			return nil
		}
		b := m.visitor()
		if strings.HasSuffix(strings.ToLower(words[1]), "host") || strings.EqualFold(words[1], "Forwarded") {
			b = m.anyhost()
		}
		for _, target := range []string{"/auth/signin", "/auth/error?error=AccessDenied", "/components"} {
			list = append(list, m.got(target, b, "GET", target, [2]string{http.CanonicalHeaderKey(words[1]), m.value})...)
		}
		return list
	}},
	{regexp.MustCompile(`^cookie ([\w.-]+)$`), func(m *markup, words []string) []document {
		name := "__Secure-authjs." + words[1]
		if words[1] == "csrf-token" {
			name = csrfCookie
		}
		b := m.visitor()
		return append(m.got("sign-in", b, "GET", "/auth/signin", [2]string{"Cookie", name + "=" + url.PathEscape(m.value)}),
			m.got("sign-out", b, "GET", "/auth/signout", [2]string{"Cookie", name + "=" + url.PathEscape(m.value)})...)
	}},
	{regexp.MustCompile(`^provider\.(name|id|style\.logo|style\.bg|style\.background|style\.text)$`),
		func(m *markup, words []string) []document {
			return m.configured(func(c *core.Config) {
				ofFirst(c, func(p *core.OAuthProvider) {
					switch words[1] {
					case "name":
						p.Name = m.value
					case "id":
						p.ID = m.value
					case "style.logo":
						p.Style.Logo = m.value
					case "style.text":
						p.Style.Text = m.value
					default:
						p.Style.Background = m.value
					}
				})
			}, "/auth/signin", "/components")
		}},
	{regexp.MustCompile(`^theme\.(brandColor|buttonText|logo|colorScheme)$`), func(m *markup, words []string) []document {
		return m.configured(func(c *core.Config) { themed(&c.Theme, words[1], m.value) }, "/auth/signin", "/auth/signout",
			"/auth/error?error=AccessDenied", "/auth/verify-request")
	}},
	{regexp.MustCompile(`^credentials field (label|placeholder|name|value|type|autocomplete|attribute)$`),
		func(m *markup, words []string) []document {
			return m.configured(func(c *core.Config) {
				ofCredentials(c, "user", func(f *core.Field) {
					switch words[1] {
					case "label":
						f.Label = m.value
					case "placeholder":
						f.Placeholder = m.value
					case "name":
						f.Name = m.value
					case "value":
						f.Value = m.value
					case "type":
						f.Type = m.value
					case "autocomplete":
						f.Autocomplete = m.value
					default:
						f.Attributes = []ui.Attribute{{Name: "pattern", Value: m.value}}
					}
				})
			}, "/auth/signin")
		}},
	{regexp.MustCompile(`^IdP (error|error_description|error_uri)$`), func(m *markup, words []string) []document {
		b := m.visitor()
		location := b.submit("/auth/signin/a").Header.Get("Location")
		_, answer := b.op.authorize(location, "u1")
		q := url.Values{"error": {"access_denied"}}
		for _, pair := range answer {
			if pair[0] != "code" {
				q.Set(pair[0], pair[1])
			}
		}
		q.Set(words[1], m.value)
		return m.asked("return", b, func() (wire.Answer, error) { return b.get("/auth/callback/a?" + q.Encode()), nil })
	}},
	{regexp.MustCompile(`^profile\.(\w+)$`), func(m *markup, words []string) []document {
		name := words[1]
		if name == "image" {
			name = "picture"
		}
		return m.profiled(name)
	}},
	{regexp.MustCompile(`^session in the ui components$`), func(m *markup, _ []string) []document {
		x := m.attack.open(sessionOf(m.value))
		b := x.browser("u1")
		b.submit("/auth/callback/credentials", "user", "ada", "password", "right")
		return []document{page("components", b.get("/components"))}
	}},
	{regexp.MustCompile(`^letter: identifier$`), func(m *markup, _ []string) []document {
		x := m.visitor().app
		m.mailedTo(x, url.Values{"email": {m.value}}, [2]string{"Host", "app.example"})
		list := m.letters(x, nil)
		m.mailedTo(x, url.Values{}, [2]string{"Host", "app.example"})
		return append(list, m.letters(x, func(mail *core.SignInMail) { mail.To = m.value })...)
	}},
	{regexp.MustCompile(`^letter: url$`), func(m *markup, _ []string) []document {
		x := m.visitor().app
		m.mailedTo(x, url.Values{"callbackUrl": {m.value}}, [2]string{"Host", "app.example"})
		list := m.letters(x, nil)
		m.mailedTo(x, url.Values{}, [2]string{"Host", "app.example"})
		return append(list, m.letters(x, func(mail *core.SignInMail) { mail.URL = core.Secret(m.value) })...)
	}},
	{regexp.MustCompile(`^letter: host$`), func(m *markup, _ []string) (list []document) {
		x := m.anyhost().app
		if !refusedBy(m.value) {
			m.mailedTo(x, url.Values{}, [2]string{"Host", m.value})
			m.mailedTo(x, url.Values{}, [2]string{"Host", "app.example"}, [2]string{"X-Forwarded-Host", m.value})
			list = m.letters(x, nil)
		}
		m.mailedTo(x, url.Values{}, [2]string{"Host", "app.example"})
		return append(list, m.letters(x, func(mail *core.SignInMail) { mail.Host = m.value })...)
	}},
	{regexp.MustCompile(`^letter: theme$`), func(m *markup, _ []string) (list []document) {
		x := m.visitor().app
		for _, part := range []string{"brandColor", "buttonText", "logo", "colorScheme"} {
			m.mailedTo(x, url.Values{}, [2]string{"Host", "app.example"})
			list = append(list, m.letters(x, func(mail *core.SignInMail) { themed(&mail.Theme, part, m.value) })...)
		}
		return list
	}},
}

// themed sets a part of a theme.
func themed(theme *core.Theme, part, value string) {
	switch part {
	case "brandColor":
		theme.BrandColor = value
	case "buttonText":
		theme.ButtonText = value
	case "logo":
		theme.Logo = value
	default:
		theme.ColorScheme = value
	}
}
