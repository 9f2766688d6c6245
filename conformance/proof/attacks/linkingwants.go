package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// wanted checks the result of a case.
type wanted struct{ *relation }

// atom is one part of an expectation. problem explains why it is not met.
type atom struct {
	pattern *regexp.Regexp
	holds   func(r wanted, m []string) (problem string)
}

var parenthesis = regexp.MustCompile(` ?\([^)]*\)`)

// hold checks a clause. A clause may have an explanation before or after a colon. Its alternatives are separated by
// "or", and the parts of an alternative by commas.
func (r wanted) hold(clause string) {
	clause = parenthesis.ReplaceAllString(clause, "")
	readings := []string{clause}
	if before, after, ok := strings.Cut(clause, ": "); ok {
		readings = append(readings, before, after)
	}
	for _, reading := range readings {
		if problem, understood := r.reading(reading); understood {
			if problem != "" {
				r.failf("%s: %s (answered %d to %q)", clause, problem, r.last.Status, r.last.Header.Get("Location"))
			}
			return
		}
	}
	r.failf("want %q is not understood", clause)
}

// reading checks one interpretation of a clause.
func (r wanted) reading(text string) (problem string, understood bool) {
	if problem, understood = r.atom(text); understood {
		return problem, true
	}
	var problems []string
	for _, alternative := range regexp.MustCompile(`,? or `).Split(text, -1) {
		problem := ""
		for part := range strings.SplitSeq(alternative, ", ") {
			one, known := r.atom(part)
			if !known {
				return "", false
			}
			problem = or(problem, one)
		}
		problems = append(problems, problem)
	}
	if slices.Contains(problems, "") {
		return "", true
	}
	return strings.Join(problems, "; "), true
}

func (r wanted) atom(text string) (problem string, understood bool) {
	for _, a := range atoms {
		if m := a.pattern.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
			return a.holds(r, m), true
		}
	}
	return "", false
}

// unless returns a problem unless ok is true.
func unless(ok bool, format string, args ...any) string {
	if ok {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

var atoms = []atom{
	{regexp.MustCompile(`^(?:OAuth)?(?:AccountNotLinked|CallbackError)$|^AccessDenied$|^Verification$|^Configuration$`),
		func(r wanted, m []string) string {
			got := errorIn(r.last)
			return or(unless(got == m[0], "the error is %q", got), r.asBefore(r.first))
		}},
	{regexp.MustCompile(`^(?:it is |both )?refused$`), func(r wanted, m []string) string {
		if strings.HasPrefix(m[0], "both") && errorIn(r.before) == "" {
			return "the first was let in"
		}
		return or(unless(errorIn(r.last) != "" || r.last.Status/100 == 4, "nothing was refused"), r.asBefore(r.first))
	}},
	{regexp.MustCompile(
		`^(?:no row changed|nothing written|nothing is written|no user, account, session or event row exists)$`),
		func(r wanted, _ []string) string { return r.unwritten() }},
	{regexp.MustCompile(`^([A-Z]\w*) untouched$`), func(r wanted, m []string) string {
		id := r.human(m[1]).id
		for _, u := range r.app.store.users(r) {
			if u.ID == id || id == "" && u.Email == r.human(m[1]).address {
				return unless(r.rows[u.ID] == r.app.store.rows(r, u), "the rows are now %s", r.app.store.rows(r, u))
			}
		}
		return unless(r.rows[id] == "", "the user is gone")
	}},
	{regexp.MustCompile(`^linked to ([A-Z]\w*)$`), func(r wanted, m []string) string {
		id := r.human(m[1]).id
		owner, who := r.ownerID(r.provider, r.subject), r.userIn(r.first)
		return unless(id != "" && owner == id && who == id, "the account is of %q, signed in is %q", owner, who)
	}},
	{regexp.MustCompile(`^never linked to ([A-Z]\w*)$`), func(r wanted, m []string) string {
		id := r.human(m[1]).id
		owner, who := r.ownerID(r.provider, r.subject), r.userIn(r.first)
		return unless(id != "" && owner != id && who != id, "the account is of %q, signed in is %q", owner, who)
	}},
	{regexp.MustCompile(`^same session$`), func(r wanted, _ []string) string {
		return unless(r.sameSession("V"), "the session is another")
	}},
	{regexp.MustCompile(`^([A-Z]\w*)'s session as before$`), func(r wanted, m []string) string {
		return unless(r.sameSession(m[1]), "the session is another")
	}},
	{regexp.MustCompile(`^signed in as ([A-Z]\w*)$`), func(r wanted, m []string) string {
		h, who := r.human(m[1]), r.userIn(r.first)
		for _, u := range r.app.store.users(r) {
			if u.ID == who && (h.id == who || h.id == "" && u.Email == h.address) {
				return ""
			}
		}
		return fmt.Sprintf("signed in is %q", who)
	}},
	{regexp.MustCompile(`^(?:a )?(?:different|new|clean) user$`), func(r wanted, _ []string) string {
		who := r.userIn(r.first)
		return unless(r.isNew(who), "signed in is %q", who)
	}},
	{regexp.MustCompile(`^two users$`), func(r wanted, _ []string) string {
		one, two := r.userIn(r.first), r.userIn(r.second)
		return unless(r.isNew(one) && r.isNew(two) && one != two, "signed in are %q and %q", one, two)
	}},
	{regexp.MustCompile(`^never one$`), func(r wanted, _ []string) string {
		one, two := r.userIn(r.first), r.userIn(r.second)
		return unless(one == "" || one != two, "both are %q", one)
	}},
	{regexp.MustCompile(`^emailVerified (null|set)$`), func(r wanted, m []string) string {
		for _, u := range r.app.store.users(r) {
			if u.ID == r.userIn(r.first) {
				return unless(u.EmailVerified.IsZero() == (m[1] == "null"), "it is %v", u.EmailVerified)
			}
		}
		return "there is no such user"
	}},
	{regexp.MustCompile(`^(one|two|no) (account|session)s?$`),
		func(r wanted, m []string) string { return r.counted(m[1], m[2]) }},
	{regexp.MustCompile(`^process alive$`), func(wanted, []string) string { return "" }}, // checked for every payload
	{regexp.MustCompile(`^by configuration$`), func(wanted, []string) string { return "" }},
	{regexp.MustCompile(`^stays on the origin$`), func(r wanted, _ []string) string {
		location := r.last.Header.Get("Location")
		return unless(location != "" && leaves(location, home) == "", "sent to %q", location)
	}},
	{regexp.MustCompile(`^null$`), func(r wanted, _ []string) string {
		return unless(r.last.Status == 200 && string(r.last.Body) == "null", "answered %.100s", r.last.Body)
	}},
	{regexp.MustCompile(`^cookie cleared$`), func(r wanted, _ []string) string {
		return unless(r.first.cookies[sessionCookie] == "", "the cookie is there")
	}},
	{regexp.MustCompile(`^record gone$`), func(r wanted, _ []string) string {
		_, err := r.app.store.Store.DeleteSession(r, r.held["V"])
		return unless(errors.Is(err, core.ErrNotFound), "the record is there")
	}},
	{regexp.MustCompile(`^nothing of it in the token or the session$`), func(r wanted, _ []string) string {
		return r.nothingPosted()
	}},
	{regexp.MustCompile(`^exp is maxAge from now$`), func(r wanted, _ []string) string {
		if r.token == nil {
			return "there is no token"
		}
		left := r.token.Expires.Sub(r.app.clock())
		return unless(left > 29*24*time.Hour && left <= 30*24*time.Hour+time.Minute, "it ends in %v", left)
	}},
	{regexp.MustCompile(`^the next read's user id is ([A-Z]\w*)'s$`), func(r wanted, m []string) string {
		who := r.userIn(r.first)
		return unless(who != "" && who == r.human(m[1]).id, "it is %q", who)
	}},
	{regexp.MustCompile(`^([A-Z]\w*)'s token still works$`), func(r wanted, m []string) string {
		h := r.human(m[1])
		if h.emailLink == nil {
			return "there is no token"
		}
		r.opened(h.browser, h.emailLink.RequestURI())
		return unless(h.who() == h.emailLink.Query().Get("email"), "signed in is %q", h.who())
	}},
	{regexp.MustCompile(`^V is signed in and A has nothing: .*$`),
		func(r wanted, _ []string) string { return r.shared() }},
	{regexp.MustCompile(`^as the option documents$|^with a strict option OAuthAccountNotLinked$`),
		func(r wanted, _ []string) string { // without the claim no email is verified (docs/accounts.md), so ours is strict
			got := errorIn(r.last)
			return or(unless(got == "OAuthAccountNotLinked", "the error is %q", got), r.unwritten())
		}},
	{regexp.MustCompile(`^presets of providers known not to verify never link$`),
		func(r wanted, _ []string) string { return r.presetsVouch() }},
}

// asBefore reports a problem if a browser's session is not the one before the event.
func (r wanted) asBefore(b *browser) string {
	for name, h := range r.persons {
		if h.browser == b && r.held[name] != "" {
			return unless(r.sameSession(name), "the session of %s is another", name)
		}
	}
	who := r.userIn(b)
	return unless(who == "", "signed in is %q", who)
}

// sameSession reports whether a person's browser has the same session as before. Under the JWT strategy the token may
// be a new one for the same user.
func (r wanted) sameSession(name string) bool {
	h := r.human(name)
	now := h.cookies[sessionCookie]
	return now != "" && r.held[name] != "" && (now == r.held[name] || r.strategy == "jwt" && r.userIn(h.browser) == h.id)
}

// unwritten returns a problem if anything was written.
func (r wanted) unwritten() string {
	var now []string
	for _, u := range r.app.store.users(r) {
		now = append(now, u.ID)
		if rows := r.app.store.rows(r, u); rows != r.rows[u.ID] {
			return fmt.Sprintf("the rows of a user are %s, were %s", rows, r.rows[u.ID])
		}
	}
	if len(now) != len(r.rows) {
		return fmt.Sprintf("there are %d users, were %d", len(now), len(r.rows))
	}
	r.app.mu.Lock()
	defer r.app.mu.Unlock()
	return unless(len(r.events) == 0, "events: %q", r.events)
}

// counted counts the rows of the signed-in user. The JWT strategy stores no sessions.
func (r wanted) counted(want, what string) string {
	if what == "session" && r.strategy == "jwt" {
		return unless(r.userIn(r.first) != "" == (want == "one"), "the session is of %q", r.userIn(r.first))
	}
	for _, u := range r.app.store.users(r) {
		if u.ID == r.userIn(r.first) {
			n := strings.Count("\n"+r.app.store.rows(r, u), "\n"+what+" ")
			return unless(n == map[string]int{"no": 0, "one": 1, "two": 2}[want], "there are %d", n)
		}
	}
	return "nobody is signed in"
}

// nothingPosted returns a problem if posted data is in the session or the token.
func (r wanted) nothingPosted() string {
	shown := string(r.last.Body) + string(r.first.get("/auth/session").Body) + string(r.first.get("/page").Body)
	if r.token == nil {
		return "there is no session any more"
	}
	claims := string(must(json.Marshal(r.token)))
	for _, value := range []string{posted, fmt.Sprint(postedTime), "2100-01-01"} {
		if strings.Contains(shown, value) || strings.Contains(claims, value) {
			return fmt.Sprintf("%s is in %.300s or %.300s", value, shown, claims)
		}
	}
	return ""
}

// shared returns a problem if V and A share a user: A's session, or a sign-in method of A, belongs to V's user. V must
// be signed in or see an error.
func (r wanted) shared() string {
	v, a := r.human("V"), r.human("A")
	owner := r.userIn(r.first)
	if owner == "" {
		return unless(errorIn(r.last) != "", "V is not signed in, and was not told why")
	}
	v.id = owner
	if who := r.userIn(a.browser); who == owner {
		return "A's session is V's"
	}
	a.get("/auth/session")
	if who := r.userIn(a.browser); who == owner {
		return "A's session is V's after a read"
	}
	for i, who := range r.waysOf(a) {
		if who == owner {
			return "A signs in as V by " + a.ways[i]
		}
	}
	return ""
}

// presetsVouch reports a provider preset that treats an address as verified although its service does not verify it.
func (wanted) presetsVouch() string {
	for _, id := range []string{"microsoft-entra-id", "azure-ad-b2c"} {
		preset, known := providers.ByID(id)
		if !known {
			return "there is no preset " + id
		}
		profile := core.Profile{"email": "v@corp.example", "verified_primary_email": []any{}}
		if preset.EmailVerified != nil && preset.EmailVerified(profile) || preset.AllowDangerousEmailAccountLinking {
			return id + " vouches for any address"
		}
	}
	return ""
}
