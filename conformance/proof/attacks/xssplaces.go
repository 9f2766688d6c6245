package main

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// ofFirst modifies the first provider of a configuration, which is the application's own copy.
func ofFirst(c *core.Config, change func(p *core.OAuthProvider)) {
	change(c.Providers[0].(*core.OAuthProvider))
}

// ofCredentials modifies the form of the password provider.
func ofCredentials(c *core.Config, name string, change func(f *core.Field)) {
	for _, p := range c.Providers {
		if p, ok := p.(*core.CredentialsProvider); ok {
			field := core.Field{Name: name}
			change(&field)
			p.Fields = []core.Field{field, {Name: "password", Type: "password"}}
		}
	}
}

// placed returns the function that renders a place, by the file's words.
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

// refusedBy reports whether the value is invalid in a header. A server then closes the connection or responds itself.
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
		list := m.emailDocuments(x, nil)
		m.mailedTo(x, url.Values{}, [2]string{"Host", "app.example"})
		return append(list, m.emailDocuments(x, func(mail *core.Email) { mail.To = m.value })...)
	}},
	{regexp.MustCompile(`^letter: url$`), func(m *markup, _ []string) []document {
		x := m.visitor().app
		m.mailedTo(x, url.Values{"callbackUrl": {m.value}}, [2]string{"Host", "app.example"})
		list := m.emailDocuments(x, nil)
		m.mailedTo(x, url.Values{}, [2]string{"Host", "app.example"})
		return append(list, m.emailDocuments(x, func(mail *core.Email) { mail.URL = core.Secret(m.value) })...)
	}},
	{regexp.MustCompile(`^letter: host$`), func(m *markup, _ []string) (list []document) {
		x := m.anyhost().app
		if !refusedBy(m.value) {
			m.mailedTo(x, url.Values{}, [2]string{"Host", m.value})
			m.mailedTo(x, url.Values{}, [2]string{"Host", "app.example"}, [2]string{"X-Forwarded-Host", m.value})
			list = m.emailDocuments(x, nil)
		}
		m.mailedTo(x, url.Values{}, [2]string{"Host", "app.example"})
		return append(list, m.emailDocuments(x, func(mail *core.Email) { mail.Host = m.value })...)
	}},
	{regexp.MustCompile(`^letter: theme$`), func(m *markup, _ []string) (list []document) {
		x := m.visitor().app
		for _, part := range []string{"brandColor", "buttonText", "logo", "colorScheme"} {
			m.mailedTo(x, url.Values{}, [2]string{"Host", "app.example"})
			list = append(list, m.emailDocuments(x, func(mail *core.Email) { themed(&mail.Theme, part, m.value) })...)
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
