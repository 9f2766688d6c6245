package admin_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/admin"
)

// model is what the sessions of three administrators' browsers must be, after a random history.
type model struct {
	*site
	other  *site
	random *rand.Rand
	// browsers belong to root, grace and root.
	browsers [3]*client
	tabs     [3]tab
	banned   map[string]bool
	history  []string
}

// tab is the state of a browser.
type tab struct {
	owner   string // who is signed in, or "" without a session
	signed  time.Time
	acting  string // the impersonated user, or ""
	started time.Time
}

var owners = [3]string{"root", "grace", "root"}

// step makes a random change, in one of the processes, and updates the model.
func (m *model) step() {
	m.Helper()
	i, user := m.random.IntN(3), []string{"ada", "bob", "root", "grace"}[m.random.IntN(4)]
	process := []*site{m.site, m.other}[m.random.IntN(2)]
	t, b := &m.tabs[i], m.browsers[i].at(process)
	note := func(format string, args ...any) { m.history = append(m.history, fmt.Sprintf(format, args...)) }
	switch m.random.IntN(9) {
	case 0: // sign in again
		note("%d signs in", i)
		if m.banned[owners[i]] {
			return
		}
		m.browsers[i] = m.strong(owners[i])
		*t = tab{owner: owners[i], signed: m.clock()}
	case 1, 2: // impersonate
		r := b.post("impersonate", "user", user, "reason", "x")
		note("%d uses %s: %s", i, user, r.code())
		allowed := t.owner != "" && t.acting == "" && !m.banned[user] && m.isAdmin(t.owner) && !m.isAdmin(user) &&
			m.clock().Sub(t.signed) <= 15*time.Minute
		if allowed != (r.status == 200) {
			m.Errorf("the response is %d %s", r.status, r.body)
		}
		if allowed {
			t.acting, t.started = user, m.clock()
		}
	case 3:
		r := b.post("end-impersonation")
		note("%d ends: %s", i, r.code())
		if (t.owner != "" && t.acting != "") != (r.status == 200) {
			m.Errorf("the response is %d %s", r.status, r.body)
		}
		t.acting = ""
	case 4:
		note("ban of %s", user)
		if err := process.admins.Ban(m.Context(), user, admin.Ban{Reason: "x"}); err != nil {
			m.Error(err)
		}
		m.banned[user] = true
		m.ended(user)
	case 5:
		note("end of the ban of %s", user)
		if m.banned[user] {
			if err := process.admins.Unban(m.Context(), user, "", "x"); err != nil {
				m.Error(err)
			}
		}
		delete(m.banned, user)
	case 6:
		note("end of the sessions of %s", user)
		if _, err := process.auth.EndSessions(m.Context(), user, core.EndOptions{}); err != nil {
			m.Error(err)
		}
		m.ended(user)
	case 7:
		m.promote(user)
		note("administrators %v", *m.root)
	default:
		d := time.Duration(m.random.IntN(25)) * time.Minute
		note("%v later", d)
		m.wait(d)
	}
	m.wait(10 * time.Second) // Revocation.Every
	for i := range m.tabs {
		t := &m.tabs[i]
		if t.acting != "" && (m.clock().Sub(t.started) >= time.Hour || !m.isAdmin(t.owner) || m.isAdmin(t.acting)) {
			*t = tab{} // both cookies are deleted
		}
	}
}

// ended ends the sessions of a user, and the impersonations by and of them.
func (m *model) ended(user string) {
	for i := range m.tabs {
		if t := &m.tabs[i]; t.owner == user || t.acting == user {
			*t = tab{}
		}
	}
}

// promote makes a user an administrator, or removes the role.
func (m *model) promote(user string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if i := slices.Index(*m.root, user); i >= 0 {
		*m.root = slices.Delete(slices.Clone(*m.root), i, i+1)
		return
	}
	*m.root = append(slices.Clone(*m.root), user)
}

// check compares the browsers with the model, in both processes.
func (m *model) check() {
	m.Helper()
	for i, t := range m.tabs {
		want := ""
		switch {
		case t.acting != "":
			want = t.acting + " by " + t.owner
		case t.owner != "":
			want = t.owner + " by "
		}
		for _, process := range []*site{m.other, m.site} {
			if got := m.browsers[i].at(process).who(); got != want {
				m.Fatalf("browser %d has %q, want %q, after\n%s", i, got, want, strings.Join(m.history, "\n"))
			}
		}
	}
}

// TestModel runs random histories of impersonations, bans, ends of sessions and changes of roles in two processes.
func TestModel(t *testing.T) {
	t.Parallel()
	both(t, func(t *testing.T, strategy core.Strategy) {
		for seed := range uint64(12) {
			s := newSite(t, strategy, impersonating)
			m := &model{
				site: s, other: s.process(impersonating), random: rand.New(rand.NewPCG(seed, 7)), banned: map[string]bool{},
			}
			for i := range m.browsers {
				m.browsers[i] = s.strong(owners[i])
				m.tabs[i] = tab{owner: owners[i], signed: s.clock()}
			}
			for range 60 {
				m.step()
				m.check()
			}
		}
	})
}
