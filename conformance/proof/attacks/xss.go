package main

import (
	"net/url"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
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
