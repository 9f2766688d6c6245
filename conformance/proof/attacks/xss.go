package main

import (
	"net/url"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// markup inserts one value into every place that may be shown on a page or in an email.
type markup struct {
	*attack
	value string
	shared
}

// shared are applications for the places that need no special configuration.
type shared struct {
	// pinned has a configured origin. open takes its origin from the request.
	pinned, open *browser
}

// markups renders every place with the value, and compares the result with renderings of harmless texts
// (docs/protocol.md §7.11): the elements and attributes must be equal.
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

// closest describes the difference from the most similar expected tree.
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

// harmlessTexts are the kinds of text that a place may treat differently: a word, a path, a URL of the site, a URL of
// another site, a color, an image, an empty text. Each payload value is also of one of these kinds and must be rendered
// like it.
var harmlessTexts = []string{
	"zzz", "/zzz", home + "/zzz", "https://zzz.example/zzz", "red", "data:image/png;base64,AA==", "", "zzz@app.example",
}

// drawnBefore caches the trees of harmless texts, by adapter and place.
var drawnBefore sync.Map

// harmless returns the possible trees of a place, by document.
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

// visitor returns a browser at the shared application.
func (m *markup) visitor() *browser {
	if m.pinned == nil {
		m.pinned = m.attack.open(func(c *core.Config) { c.InsecureNoLimits = true }).browser("u1")
	}
	return m.pinned
}

// anyhost returns a browser at an application that takes its origin from requests.
func (m *markup) anyhost() *browser {
	if m.shared.open == nil {
		m.shared.open = m.attack.open(func(c *core.Config) {
			c.InsecureNoLimits = true
			c.URL, c.TrustHost = "", core.True
		}).browser("u1")
	}
	return m.shared.open
}

// page returns a response as a document. A refusal without markup is not a document.
func page(what string, answer wire.Answer) document {
	d := document{what: what, body: string(answer.Body)}
	d.refused = !strings.HasPrefix(answer.Header.Get("Content-Type"), "text/html")
	return d
}

// asked sends a request and follows redirects on the site.
func (m *markup) asked(what string, b *browser, ask func() (wire.Answer, error)) []document {
	answer, err := ask()
	if err != nil { // the server closed the connection
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

// got sends a request that a server may refuse to read.
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

// configured renders pages of an application whose configuration contains the value.
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

// emailDocuments returns the emails of an application, as the senders of package providers compose them.
func (m *markup) emailDocuments(x *app, alter func(mail *core.Email)) (list []document) {
	for _, mail := range x.mailed() {
		if alter != nil {
			alter(&mail)
		}
		letter, err := providers.WriteEmail(mail)
		m.must(err)
		list = append(list, document{what: "letter", body: letter.HTML},
			document{what: "text", body: letter.Text, plain: true}, document{what: "subject", body: letter.Subject, plain: true})
	}
	return list
}

// mailedTo requests an email with additional fields and header lines.
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

// profiled signs in at a provider whose profile contains the value, and renders the pages that show it.
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
