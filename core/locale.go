package core

import (
	"context"
	"strings"

	"golang.org/x/text/language"

	"github.com/latchkey-go/latchkey/ui"
)

// locales are the languages of Config.Locales, and the choice among them; nil: everything is in English and nothing is
// chosen.
type locales struct {
	all     []ui.Locale
	matcher language.Matcher
	decide  func(ctx context.Context, r *Request) string // Callbacks.Locale
}

// newLocales reports what is wrong with the languages.
func newLocales(c *Config, faults *ConfigError) *locales {
	if len(c.Locales) == 0 {
		if c.Callbacks.Locale != nil {
			faults.add(ErrInvalidConfig, "Callbacks.Locale chooses among Config.Locales, which is empty: "+
				"list the languages there, locales.All() for example")
		}
		return nil
	}
	l := &locales{all: c.Locales, decide: c.Callbacks.Locale}
	tags := make([]language.Tag, len(c.Locales))
	seen := map[language.Tag]bool{}
	for i, locale := range c.Locales {
		for _, problem := range locale.Validate() {
			faults.add(ErrInvalidConfig, "Locales[%d]: %s", i, problem)
		}
		tag, err := language.Parse(or(locale.Tag, "en"))
		switch {
		case err != nil:
			faults.add(ErrInvalidConfig, "Locales[%d]: tag %q names no language: write one of BCP 47, such as de or pt-BR",
				i, locale.Tag)
		case seen[tag]:
			faults.add(ErrInvalidConfig, "Locales[%d]: %q is there already: list each language once", i, locale.Tag)
		}
		tags[i], seen[tag] = tag, true
	}
	l.matcher = language.NewMatcher(tags)
	return l
}

// longestAsked is how much of a parameter or header is looked at: no browser sends more.
const longestAsked = 512

// mostAsked is how many languages of a parameter are looked at, mostAccepted how many of the header Accept-Language: to
// compare hundreds of them takes a millisecond.
const (
	mostAsked    = 6
	mostAccepted = 16
)

// settle chooses the language of a request, once, before anything is said. asked is the language that its address
// names, empty for none.
func (l *locales) settle(ctx context.Context, v *arrival, asked string) {
	if l != nil {
		v.locale = l.choose(ctx, v, asked)
	}
}

// choose asks the application first, then the address of the request, then what an address asked for before, then the
// browser's settings. The first language of the configuration is for everybody else.
func (l *locales) choose(ctx context.Context, v *arrival, asked string) *ui.Locale {
	if l.decide != nil {
		tag, err := guarded("Callbacks.Locale", func() (string, error) { return l.decide(ctx, v.r), nil })
		if err != nil {
			v.log.failure(ctx, asError(err, ErrAuth), v.attrs()...)
		}
		if chosen := l.find(tag); chosen != nil {
			return chosen
		}
	}
	if chosen := l.find(asked); chosen != nil {
		return chosen
	}
	return l.ofBrowser(v)
}

// ofBrowser chooses by what the browser sends with each request.
func (l *locales) ofBrowser(v *arrival) *ui.Locale {
	if v.cookies != nil {
		spec := v.partCookie(localeCookie)
		kept, _ := v.jar.Get(spec.name())
		if chosen := l.find(kept); chosen != nil {
			return chosen
		}
	}
	wanted := v.header("Accept-Language")
	if len(wanted) > longestAsked {
		wanted = wanted[:max(0, strings.LastIndexByte(wanted[:longestAsked], ','))]
	}
	if all := strings.SplitN(wanted, ",", mostAccepted+1); len(all) > mostAccepted {
		wanted = strings.Join(all[:mostAccepted], ",")
	}
	tags, _, err := language.ParseAcceptLanguage(wanted)
	if err != nil || len(tags) == 0 {
		return &l.all[0]
	}
	if chosen := l.match(tags); chosen != nil {
		return chosen
	}
	return &l.all[0]
}

// find returns the language of a list of tags with blanks in between, the most wanted one first; nil for none.
func (l *locales) find(list string) *ui.Locale {
	if list == "" || len(list) > longestAsked {
		return nil
	}
	var tags []language.Tag
	for i, name := range strings.Fields(list) {
		if i >= mostAsked {
			break
		}
		if tag, err := language.Parse(name); err == nil {
			tags = append(tags, tag)
		}
	}
	return l.match(tags)
}

func (l *locales) match(tags []language.Tag) *ui.Locale {
	if len(tags) == 0 {
		return nil
	}
	_, at, confidence := l.matcher.Match(tags...)
	if confidence == language.No {
		return nil
	}
	return &l.all[at]
}

// askedLocale is the language that the address of a request to the auth routes asks for: ui_locales, as OpenID Connect
// Core section 3.1.2.1 has it, or lang.
func (c *call) askedLocale() string {
	return or(c.query.Get("ui_locales"), c.query.Get("lang"))
}

// rememberLocale has the browser keep a language that the address has asked for.
func (c *call) rememberLocale(response *Response) {
	if c.locales == nil || c.cookies == nil || c.askedLocale() == "" {
		return
	}
	chosen := c.locales.find(c.askedLocale())
	spec := c.partCookie(localeCookie)
	kept, _ := c.jar.Get(spec.name())
	if chosen == nil || kept == or(chosen.Tag, "en") {
		return
	}
	response.Cookies = append(response.Cookies, spec.set(or(chosen.Tag, "en")))
}

// language is the language in which a request is answered.
func (v *arrival) language() ui.Locale {
	switch {
	case v.locale != nil:
		return *v.locale
	case v.locales != nil: // refused before it was settled
		return *v.locales.ofBrowser(v)
	}
	return ui.Locale{}
}

// spoken says in the header of an answer which language it is in, and that others may get another one (RFC 9110
// sections 8.5 and 12.5.5).
func (v *arrival) spoken(h *Header) {
	if v.locales == nil {
		return
	}
	h.Set("Content-Language", or(v.language().Tag, "en"))
	v.varies(h, "Cookie")
}

// varies says which fields of a request an answer follows, and where it is in a chosen language, that of the browser.
func (v *arrival) varies(h *Header, fields string) {
	if v.bearers {
		fields += ", Authorization"
	}
	if v.locales != nil {
		fields += ", Accept-Language"
	}
	h.Set("Vary", fields)
}
