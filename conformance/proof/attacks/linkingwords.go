package main

import (
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// givens are the sentences of the initial state.
var givens = []sentence{
	{regexp.MustCompile(`^nobody$`), func(*relation, []string) {}},
	{regexp.MustCompile(`^strategy (?:jwt|database)$`), func(*relation, []string) {}},
	{regexp.MustCompile(`^([A-Z]\w*) by e-mail$`), func(r *relation, m []string) {
		r.later(func() {
			h, b := r.human(m[1]), r.app.browser(m[1])
			r.byMail(b, h.address)
			r.settled(h, b)
		})
	}},
	{regexp.MustCompile(`^(\w) (?:\(OpenID\) )?allows dangerous linking$`), func(r *relation, m []string) {
		r.changeProvider(m[1], func(p *core.OAuthProvider) { p.AllowDangerousEmailAccountLinking = true })
	}},
	{regexp.MustCompile(`^(\w) (?:\(OpenID\) )?vouches for every address$`), func(r *relation, m []string) {
		r.changeProvider(m[1], func(p *core.OAuthProvider) { p.EmailVerified = func(core.Profile) bool { return true } })
	}},
	{regexp.MustCompile(`^([A-Z]\w*) signed up with a passkey under (\S+@\S+?)(?: \(.*\))?, session alive$`),
		func(r *relation, m []string) {
			r.later(func() {
				h := r.human(m[1])
				r.byPasskey(h, h.browser, m[2])
				h.ways = append(h.ways, "passkey")
				r.settled(h, h.browser)
			})
		}},
	{regexp.MustCompile(`^([A-Z]\w*) signed up with (\w) under (\S+@\S+?)(?: \(.*\))?, session alive$`),
		func(r *relation, m []string) {
			r.later(func() {
				h := r.human(m[1])
				subject := "of-" + strings.ToLower(m[1])
				r.through(h.browser, m[2], subject, profile(m[3], nil))
				h.ways = append(h.ways, m[2]+" "+subject)
				r.settled(h, h.browser)
			})
		}},
	{regexp.MustCompile(`^([A-Z]\w*) signed in(?: \((?:jwt|database)\))?$`), func(r *relation, m []string) {
		r.later(func() {
			h := r.human(m[1])
			r.byMail(h.browser, h.address)
			r.settled(h, h.browser)
		})
	}},
	{regexp.MustCompile(`^(\w)'s account (\w+) belongs to ([A-Z]\w*)$`), func(r *relation, m []string) {
		r.later(func() {
			h, b := r.human(m[3]), r.app.browser(m[3])
			r.through(b, m[1], m[2], profile(h.address, nil))
			h.ways = append(h.ways, m[1]+" "+m[2])
			r.settled(h, b)
		})
	}},
	{regexp.MustCompile(`^([A-Z]\w*) with (?:OpenID )?(\w) (?:account|sub) (\w+)$`), func(r *relation, m []string) {
		r.later(func() {
			h, b := r.human(m[1]), r.app.browser(m[1])
			r.through(b, m[2], m[3], profile(h.address, nil))
			h.ways = append(h.ways, m[2]+" "+m[3])
			r.settled(h, b)
		})
	}},
	{regexp.MustCompile(`^user ([A-Z]\w*) without e-mail(?: \(.*\))?$`), func(r *relation, m []string) {
		r.later(func() {
			h, b := r.human(m[1]), r.app.browser(m[1])
			r.through(b, "a", "no-address-of-"+m[1], profile("", nil))
			r.settled(h, b)
		})
	}},
	{regexp.MustCompile(`^signIn callback (.+)$`), func(r *relation, m []string) { r.signInCallback(m[1]) }},
	{regexp.MustCompile(`^(?:jwt|session) callback copies data into the (token|session)$`),
		func(r *relation, m []string) { r.copying(m[1]) }},
	{regexp.MustCompile(`^([A-Z]\w*) deleted from the store, (?:jwt|database) session alive$`),
		func(r *relation, m []string) {
			r.later(func() {
				h := r.human(m[1])
				r.byMail(h.browser, h.address)
				r.settled(h, h.browser)
				r.must(r.app.store.Store.DeleteUser(r, h.id)) // the browser still has its cookie
			})
		}},
	{regexp.MustCompile(`^([A-Z]\w*) has a (?:verification|pending) token(?: for (\S+))?$`),
		func(r *relation, m []string) {
			r.later(func() {
				h := r.human(m[1])
				h.emailLink = r.requestLink(h.browser, or(m[2], h.address))
			})
		}},
}

// details are the profile members that an event can set: ID, address, and verification.
var details = []struct {
	pattern *regexp.Regexp
	do      func(subject *string, members map[string]any, m []string) error
}{
	{regexp.MustCompile(`^unknown account$`), func(*string, map[string]any, []string) error { return nil }},
	{regexp.MustCompile(`^(?:as|id|sub) (\w+)$`), func(subject *string, _ map[string]any, m []string) error {
		*subject = m[1]
		return nil
	}},
	{regexp.MustCompile(`^e-mail (\S+)$`), func(_ *string, members map[string]any, m []string) error {
		members["email"] = m[1]
		return nil
	}},
	{regexp.MustCompile(`^(?:no|without) (e-mail|email_verified)$`),
		func(_ *string, members map[string]any, m []string) error {
			members[strings.Replace(m[1], "e-mail", "email", 1)] = absent
			return nil
		}},
	{regexp.MustCompile(`^(email_verified|name|picture|sub|id) (.+)$`),
		func(_ *string, members map[string]any, m []string) error {
			var value any
			err := json.Unmarshal([]byte(m[2]), &value)
			members[m[1]] = value
			return err
		}},
}

// separators separate the details of a sentence.
var separators = regexp.MustCompile(`, | and | with |[()]`)

// detailed parses details.
func (r *relation) detailed(text string, subject *string, members map[string]any) {
	for _, part := range separators.Split(text, -1) {
		part = strings.TrimSpace(part)
		known := part == ""
		for _, d := range details {
			if m := d.pattern.FindStringSubmatch(part); m != nil && !known {
				known = true
				r.must(d.do(subject, members, m))
			}
		}
		if !known {
			r.failf("of the profile, %q is not understood", part)
		}
	}
}

// happenings are the sentences of events.
var happenings = []sentence{
	{regexp.MustCompile(`^([A-Z]\w*) signs in with (\w)\b(.*)$`), func(r *relation, m []string) {
		h := r.human(m[1])
		subject, members := "of-"+strings.ToLower(m[1]), profile(h.address, nil)
		r.detailed(m[3], &subject, members)
		r.first = h.browser
		r.last = r.through(h.browser, m[2], subject, members)
	}},
	{regexp.MustCompile(`^([A-Z]\w*) opens a magic link for (\S+)$`), func(r *relation, m []string) {
		h := r.human(m[1])
		r.first = h.browser
		r.last = r.byMail(h.browser, m[2])
		r.provider, r.subject = "email", m[2]
	}},
	{regexp.MustCompile(`^(\w)'s answer (?:for another person )?has (?:id|sub) (\w+)(.*)$`),
		func(r *relation, m []string) {
			subject, members := m[2], profile("other@x.example", nil)
			rest := strings.NewReplacer("other e-mail", "e-mail other@x.example", "V's e-mail", "e-mail v@corp.example").
				Replace(m[3])
			r.detailed(rest, &subject, members)
			r.first = r.app.browser("")
			r.last = r.through(r.first, m[1], subject, members)
		}},
	{regexp.MustCompile(`^another OpenID provider (\w) answers with sub (\w+)(.*)$`), func(r *relation, m []string) {
		subject, members := m[2], profile("other@x.example", nil)
		r.detailed(m[3], &subject, members)
		r.first = r.app.browser("")
		r.last = r.through(r.first, m[1], subject, members)
	}},
	{regexp.MustCompile(`^another profile without e-mail signs in$`), func(r *relation, _ []string) {
		r.first = r.app.browser("")
		r.last = r.through(r.first, "a", "another", profile("", nil))
	}},
	{regexp.MustCompile(`^two profiles without id sign in$`), func(r *relation, _ []string) {
		r.first, r.second = r.app.browser(""), r.app.browser("")
		r.before = r.through(r.first, "a", "one", profile("", map[string]any{"id": absent}))
		r.last = r.through(r.second, "a", "two", profile("", map[string]any{"id": absent}))
	}},
	{regexp.MustCompile(`^profile e-mail (\S+?)(?: with an? (.*))?$`), func(r *relation, m []string) {
		address := m[1]
		switch m[2] {
		case "":
		case "fullwidth letter":
			address = "\uff56" + address[1:]
		case "Cyrillic letter", "homoglyph":
			address = strings.Replace(address, "o", "\u043e", 1)
		case "zero-width space":
			address = address[:1] + "\u200b" + address[1:]
		case "newline":
			address += "\n"
		default:
			r.failf("the look-alike %q is not known", m[2])
		}
		r.first = r.app.browser("")
		r.last = r.through(r.first, "a", "look-alike", profile(address, nil))
	}},
	{regexp.MustCompile(`^POST session with data (.*)$`), func(r *relation, m []string) { r.update(m[1]) }},
	{regexp.MustCompile(`^GET session$`), func(r *relation, _ []string) {
		r.first = r.human("V").browser
		r.last = r.first.get("/auth/session")
	}},
	{regexp.MustCompile(`^callback with (?:([A-Z]\w*)'s )?token and (?:email=(\S+)|(no email))$`),
		func(r *relation, m []string) {
			h := r.holder(m[1])
			q := url.Values{"token": {h.emailLink.Query().Get("token")}}
			if m[2] != "" {
				q.Set("email", m[2])
			}
			r.callback(h.browser, q)
		}},
	{regexp.MustCompile(`^callback with (?:email=(\S+) and )?a wrong token(?: and email=(\S+))?$`),
		func(r *relation, m []string) {
			q := url.Values{"token": {strings.Repeat("0", 64)}, "email": {or(m[1], m[2])}}
			r.callback(r.app.browser(""), q)
		}},
}

// holder returns the person who has an email: the named one, or the only one.
func (r *relation) holder(name string) *human {
	for _, known := range slices.Sorted(maps.Keys(r.persons)) {
		if h := r.persons[known]; h.emailLink != nil && (name == "" || name == known) {
			return h
		}
	}
	panic(gaveUp{errors.New("nobody has a token")})
}

// callback opens a modified link.
func (r *relation) callback(b *browser, q url.Values) {
	r.first = b
	r.last = r.opened(b, "/auth/callback/email?"+q.Encode())
}

// barewords matches data whose member names are given without values.
var barewords = regexp.MustCompile(`^\{[\w, ]+\}$`)

// update posts data to V's session.
func (r *relation) update(data string) {
	if barewords.MatchString(data) {
		members := map[string]any{}
		for _, name := range strings.Split(strings.Trim(data, "{}"), ",") {
			members[strings.TrimSpace(name)] = posted
			if name == "exp" || name == "iat" || name == "nbf" {
				members[name] = postedTime
			}
		}
		data = string(must(json.Marshal(members)))
	}
	h := r.human("V")
	r.first = h.browser
	body := `{"csrfToken":` + string(must(json.Marshal(h.csrf()))) + `,"data":` + data + `}`
	r.last = h.ask("POST", "/auth/session", "application/json", body)
	token, err := r.app.Token(r, &core.Request{
		Method: "GET", Target: "/", Hosts: []string{"app.example"}, Scheme: "https",
		Header: map[string][]string{"Cookie": {h.cookieLine()[1]}},
	})
	r.must(err)
	r.token = token
}

// Values that a user posts to a session, and that must not appear in it.
const (
	posted     = "posted-by-the-visitor"
	postedTime = int64(4102444800)
)
