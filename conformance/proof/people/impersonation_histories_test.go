package people_test

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/admin"
)

// actingModel is what the browsers of administrators must have after a random history in two processes.
type actingModel struct {
	*banSite
	random *rand.Rand
	users  map[string]*core.User // by name: root and grace are administrators at first, ada and bob never
	mu     sync.Mutex
	admins map[string]bool // by ID

	banned  map[string]bool // by name
	tabs    []*actingTab
	history []string
	// restored is the number of sessions that a page load restored.
	restored int
	// tasks is locked while periodic tasks run. Otherwise the clock could advance by an hour during a task.
	tasks sync.Mutex
}

// atTask is a plugin with a periodic task.
type atTask func()

func (run atTask) Attach(h *core.PluginHost) error {
	h.AddTask(func(context.Context) error { run(); return nil })
	return nil
}

func (m *actingModel) wait(d time.Duration) {
	m.tasks.Lock()
	defer m.tasks.Unlock()
	m.banSite.wait(d)
}

// actingTab is a browser and its expected state.
type actingTab struct {
	jar    map[string]string
	owner  string // the administrator who has signed in, or "" without a session
	signed time.Time
	acting string // the impersonated user, or ""
	since  time.Time
	over   bool // the impersonation has lasted an hour, and the browser has opened no page since
}

func (m *actingModel) isAdmin(_ context.Context, id string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.admins[id], nil
}

func (m *actingModel) note(format string, args ...any) {
	m.history = append(m.history, fmt.Sprintf(format, args...))
}

// TestImpersonationHistories runs random histories of impersonations, bans, demotions, ends of sessions and page loads,
// on the store of each database, with both strategies and in two processes.
func TestImpersonationHistories(t *testing.T) {
	onEachStore(t, func(t *testing.T, kept core.Store, strategy core.Strategy, ada *core.User) {
		m := &actingModel{
			banSite: &banSite{T: t, now: time.Now().UTC().Truncate(time.Second)}, random: rand.New(rand.NewPCG(45, 2)),
			users: map[string]*core.User{"ada": ada}, admins: map[string]bool{}, banned: map[string]bool{},
		}
		for _, name := range []string{"root", "grace", "bob"} {
			u, err := kept.CreateUser(t.Context(), &core.User{ID: core.NewID(), Email: name + "@example.com"})
			check(t, err)
			m.users[name] = u
			m.admins[u.ID] = name != "bob"
		}
		for i := range m.auths {
			m.banSite.admins[i] = admin.New(admin.Options{
				Guard: func(ctx context.Context, by *core.Session) error {
					if there, _ := m.isAdmin(ctx, by.UserID); !there {
						return core.ErrForbidden
					}
					return nil
				},
				IsAdmin: m.isAdmin, Impersonate: true,
			})
			var err error
			m.auths[i], err = core.New(core.Config{
				URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
				Getenv: func(string) string { return "" }, StoreTimeout: time.Minute, Now: m.clock,
				Logger: slog.New(slog.DiscardHandler), Session: core.SessionConfig{Strategy: strategy},
				Plugins:          []core.Plugin{atTask(m.tasks.Lock), m.banSite.admins[i], atTask(m.tasks.Unlock)},
				InsecureNoLimits: true, CleanUp: core.False,
			})
			check(t, err)
		}
		for _, owner := range []string{"root", "grace"} {
			tab := &actingTab{}
			m.tabs = append(m.tabs, tab)
			m.signIn(tab, owner)
		}
		for range 200 {
			m.step()
			m.checkTabs()
		}
		if m.restored == 0 {
			t.Error("the history restored no session")
		}
	})
}

func (m *actingModel) signIn(tab *actingTab, owner string) {
	m.Helper()
	*tab = actingTab{jar: map[string]string{}, owner: owner, signed: m.clock()}
	name, value, _ := strings.Cut(m.signsIn(m.users[owner]).Get("Cookie"), "=")
	tab.jar[name] = value
}

func (t *actingTab) header(accept string) http.Header {
	var all []string
	for name, value := range t.jar {
		all = append(all, name+"="+value)
	}
	return http.Header{"Cookie": {strings.Join(all, "; ")}, "Accept": {accept}}
}

// step makes a random change in one of the processes, and updates the model.
func (m *actingModel) step() {
	m.Helper()
	process, i := m.random.IntN(2), m.random.IntN(2)
	tab, name := m.tabs[i], []string{"ada", "bob", "root", "grace"}[m.random.IntN(4)]
	id := m.users[name].ID
	ctx := m.Context()
	switch m.random.IntN(14) {
	case 0, 1:
		owner := []string{"root", "grace"}[i]
		m.note("%d signs in", i)
		if !m.banned[owner] && tab.acting == "" {
			m.signIn(tab, owner)
		}
	case 2, 3, 4, 5, 6:
		r := m.post(process, tab.header(""), "admin/impersonate", map[string]string{"user": id, "reason": "x"})
		m.note("%d uses %s: %d", i, name, r.Status)
		allowed := tab.owner != "" && tab.acting == "" && tab.owner != name && !m.banned[name] &&
			m.admins[m.users[tab.owner].ID] && !m.admins[id] && m.clock().Sub(tab.signed) <= 15*time.Minute
		if allowed != (r.Status == http.StatusOK) {
			m.Errorf("the response is %d %s, after\n%s", r.Status, r.Body, strings.Join(m.history, "\n"))
		}
		if allowed {
			tab.take(r.Cookies)
			tab.acting, tab.since = name, m.clock()
		}
	case 7:
		r := m.post(process, tab.header(""), "admin/end-impersonation", nil)
		m.note("%d ends: %d", i, r.Status)
		if ends := tab.acting != "" && !tab.over; ends != (r.Status == http.StatusOK) {
			m.Errorf("the response is %d %s, after\n%s", r.Status, r.Body, strings.Join(m.history, "\n"))
		} else if ends {
			tab.take(r.Cookies)
			tab.acting = ""
		}
	case 8:
		m.note("ban of %s", name)
		check(m.T, m.banSite.admins[process].Ban(ctx, id, admin.Ban{Reason: "x"}))
		m.banned[name] = true
		m.ended(name)
	case 9:
		m.note("end of the bans of %v", m.banned)
		for each := range m.banned {
			check(m.T, m.banSite.admins[process].Unban(ctx, m.users[each].ID, "", "x"))
		}
		clear(m.banned)
	case 10:
		m.note("end of the sessions of %s", name)
		_, err := m.auths[process].EndSessions(ctx, id, core.EndOptions{})
		check(m.T, err)
		m.ended(name)
	case 11:
		m.changeRole(name)
	default:
		d := []time.Duration{5, 14, 40, 61}[m.random.IntN(4)] * time.Minute
		m.note("%v later", d)
		m.wait(d)
	}
	m.wait(10 * time.Second) // Revocation.Every
	for _, tab := range m.tabs {
		switch {
		case tab.acting == "":
		case m.clock().Sub(tab.since) >= time.Hour:
			tab.over = true
		case !m.admins[m.users[tab.owner].ID] || m.admins[m.users[tab.acting].ID]:
			*tab = actingTab{jar: tab.jar}
		}
	}
}

// changeRole changes the role of a user, or gives all users their first role back.
func (m *actingModel) changeRole(name string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	changed := false
	for each, u := range m.users {
		first := each == "root" || each == "grace"
		changed = changed || m.admins[u.ID] != first
		m.admins[u.ID] = first
	}
	if !changed {
		m.admins[m.users[name].ID] = !m.admins[m.users[name].ID]
	}
	m.note("administrators %v", m.admins)
}

// ended ends the sessions of a user, and the impersonations by and of them.
func (m *actingModel) ended(name string) {
	for _, tab := range m.tabs {
		if tab.owner == name || tab.acting == name && !tab.over {
			*tab = actingTab{jar: tab.jar}
		}
	}
}

// take stores the cookies of a response.
func (t *actingTab) take(cookies []core.Cookie) {
	for _, c := range cookies {
		if name, value, _ := strings.Cut(cookieHeader([]core.Cookie{c}), "="); c.HasMaxAge && c.MaxAge == 0 {
			delete(t.jar, name)
		} else {
			t.jar[name] = value
		}
	}
}

// checkTabs compares the browsers with the model, in both processes. Sometimes a browser opens a page.
func (m *actingModel) checkTabs() {
	m.Helper()
	for i, tab := range m.tabs {
		for process := range m.auths {
			m.is(i, process, tab, "application/json")
		}
		if m.random.IntN(3) > 0 {
			continue
		}
		if m.note("%d opens a page", i); tab.over {
			tab.acting, tab.over = "", false
			m.restored++
		}
		for range m.auths {
			m.is(i, m.random.IntN(2), tab, "text/html")
		}
	}
}

func (m *actingModel) is(i, process int, tab *actingTab, accept string) {
	m.Helper()
	want := ""
	switch {
	case tab.owner == "" || tab.over:
	case tab.acting != "":
		want = m.users[tab.acting].ID + " by " + m.users[tab.owner].ID
	default:
		want = m.users[tab.owner].ID + " by "
	}
	v := m.auths[process].Visit(m.Context(), m.request("/", tab.header(accept)))
	session, err := v.Session()
	check(m.T, err)
	got := ""
	if session != nil {
		got = session.UserID + " by " + session.Actor
	}
	if got != want {
		m.Fatalf("browser %d has %q in process %d, want %q, after\n%s", i, got, process, want, strings.Join(m.history, "\n"))
	}
	set := http.Header{}
	v.Commit(set)
	for _, line := range set["Set-Cookie"] {
		c, err := http.ParseSetCookie(line)
		check(m.T, err)
		if c.MaxAge < 0 {
			delete(tab.jar, c.Name)
		} else {
			tab.jar[c.Name] = c.Value
		}
	}
}
