package multisession_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

const (
	modelAge    = 10 * 24 * time.Hour // Session.MaxAge
	modelUpdate = 24 * time.Hour      // Session.UpdateAge
)

// held is a session in the model.
type held struct {
	user         string
	start, renew time.Time
	over         bool
}

// alive reports whether the session can be used.
func (h *held) alive() bool { return h != nil && !h.over && time.Since(h.renew) < modelAge }

// modelBrowser is a browser and the sessions that it must have.
type modelBrowser struct {
	*browser
	active *held
	kept   map[string]*held
}

// model runs random histories of two browsers and two processes, and knows the expected sessions.
type model struct {
	*site
	processes []*site
	browsers  []*modelBrowser
	sessions  []*held
	rand      *rand.Rand
	history   []string
}

// TestModel checks that no request acts as a user who did not sign in in the browser, and that no session gets younger.
func TestModel(t *testing.T) {
	t.Parallel()
	runs := 40
	if testing.Short() {
		runs = 8
	}
	for seed := range runs {
		both(t, func(s *site) {
			m := &model{site: s, processes: []*site{s, s.process()}, rand: rand.New(rand.NewPCG(uint64(seed), 7))}
			for range 2 {
				m.browsers = append(m.browsers, &modelBrowser{browser: s.browser(), kept: map[string]*held{}})
			}
			for range 60 {
				m.step()
				for _, b := range m.browsers {
					m.compare(b)
				}
				if s.Failed() {
					s.Fatalf("seed %d: %s", seed, strings.Join(m.history, "; "))
				}
			}
		}, func(c *core.Config) {
			c.Session.RememberMe, c.Session.MaxAge, c.Session.UpdateAge = false, modelAge, modelUpdate
		})
	}
}

func (m *model) step() {
	n := m.rand.IntN(len(m.browsers))
	b, user := m.browsers[n], people[m.rand.IntN(len(people))]
	b.browser = b.at(m.processes[m.rand.IntN(2)])
	what := []string{
		"sign in", "sign in", "add", "add", "switch", "switch", "switch", "sign out", "sign out one", "sign out all",
		"revoke", "ban", "wait", "wait", "plant",
	}[m.rand.IntN(15)]
	m.history = append(m.history, fmt.Sprint(n, " ", what, " ", user))
	switch what {
	case "sign in":
		m.signsIn(b, user)
	case "add":
		b.post("/auth/accounts/add", nil)
		if b.active != nil && len(b.kept) < 4 {
			m.sets(b, nil)
		}
	case "switch":
		m.switches(b, user)
	case "sign out":
		b.post("/auth/signout", nil)
		m.ends(b.active)
		b.active = nil
	case "sign out one":
		b.post("/auth/accounts/sign-out", url.Values{"account": {b.ref(user)}})
		if b.active != nil && b.active.user == user {
			m.ends(b.active)
			b.active = nil
		}
		m.ends(b.kept[user])
		delete(b.kept, user)
	case "sign out all":
		if m.rand.IntN(4) > 0 {
			return
		}
		b.post("/auth/accounts/sign-out-all", nil)
		m.ends(b.active)
		for _, h := range b.kept {
			m.ends(h)
		}
		b.active, b.kept = nil, map[string]*held{}
	case "revoke":
		if _, err := b.s.auth.EndSessions(m.Context(), user, core.EndOptions{}); err != nil {
			m.Fatal(err)
		}
		for _, h := range m.sessions {
			if h.user == user {
				m.ends(h)
			}
		}
		time.Sleep(2 * time.Minute) // until both processes know
	case "ban":
		m.ban(user, !m.isBanned(user))
	case "wait":
		time.Sleep(time.Duration(m.rand.IntN(100))*time.Hour + 7*time.Minute)
	case "plant":
		m.plants(b, m.browsers[1-n])
	}
}

func (m *model) ends(h *held) {
	if h != nil {
		h.over = true
	}
}

// sets makes h the active session and keeps the current one.
func (m *model) sets(b *modelBrowser, h *held) {
	if b.active != nil {
		b.kept[b.active.user] = b.active
	}
	b.active = h
}

func (m *model) signsIn(b *modelBrowser, user string) {
	if m.isBanned(user) {
		return
	}
	b.signIn(user)
	m.ends(b.kept[user])
	delete(b.kept, user)
	if b.active != nil && (b.active.user == user || len(b.kept) == 4) {
		m.ends(b.active)
		b.active = nil
	}
	now := time.Now().Truncate(time.Second)
	h := &held{user: user, start: now, renew: now}
	m.sessions = append(m.sessions, h)
	m.sets(b, h)
}

func (m *model) switches(b *modelBrowser, user string) {
	b.switchTo(user)
	to := b.kept[user]
	switch {
	case to == nil:
	case to.alive() && !m.isBanned(user):
		delete(b.kept, user)
		m.sets(b, to)
	case b.active != nil: // the sign-in page
		if len(b.kept) == 4 {
			m.ends(to)
			delete(b.kept, user)
		}
		m.sets(b, nil)
	}
}

// plants puts cookies of another browser into a copy of this one.
func (m *model) plants(b, from *modelBrowser) {
	planted := b.copied()
	var foreign []string
	for name, value := range from.cookies {
		if strings.Contains(name, "-account") {
			to := fmt.Sprint(sessionCookie, "-account", 1+m.rand.IntN(4))
			planted.cookies[to] = value
			foreign = append(foreign, name)
		}
	}
	for _, e := range planted.list() {
		user, _, _ := strings.Cut(e.Email, "@")
		if b.kept[user] == nil && (b.active == nil || b.active.user != user) {
			m.Errorf("planted cookies %v add the account %s", foreign, user)
		}
	}
	before := planted.user()
	for user := range from.kept {
		if b.kept[user] == nil {
			planted.post("/auth/accounts/switch", url.Values{"account": {from.ref(user)}})
		}
	}
	if after := planted.user(); after != before {
		m.Errorf("planted cookies switch from %q to %q", before, after)
	}
}

// compare compares a browser with the model.
func (m *model) compare(b *modelBrowser) {
	if !b.active.alive() {
		b.active = nil
	}
	session := b.session()
	switch {
	case session == nil && b.active == nil:
	case session == nil || b.active == nil || session.UserID != b.active.user:
		m.Errorf("the session is %+v, want %+v", session, b.active)
		return
	default:
		if !session.AuthTime.Equal(b.active.start) {
			m.Errorf("%s authenticated at %v, want %v", session.UserID, session.AuthTime, b.active.start)
		}
		if time.Since(b.active.renew) >= modelUpdate {
			b.active.renew = time.Now()
		}
	}
	want := map[string]bool{}
	for user, h := range b.kept {
		if time.Since(h.renew) < modelAge+20*24*time.Hour { // the browser deletes its cookie 30 days after the end
			want[user] = h.alive()
		}
	}
	if b.active != nil {
		want[b.active.user] = true
	}
	got := map[string]bool{}
	for _, e := range b.list() {
		user, _, _ := strings.Cut(e.Email, "@")
		got[user] = e.SignedIn
		if e.Active != (b.active != nil && b.active.user == user) {
			m.Errorf("%s is active: %t", user, e.Active)
		}
	}
	for user, signedIn := range want {
		if is, there := got[user]; !there || is != signedIn {
			m.Errorf("the account %s is %v in %v, want %t", user, is, slices.Sorted(maps.Keys(got)), signedIn)
		}
	}
	for user := range got {
		if b.kept[user] == nil && (b.active == nil || b.active.user != user) {
			m.Errorf("there is the account %s", user)
		}
	}
}
