package people_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/admin"
	"github.com/latchkey-go/latchkey/plugins/apikey"
)

// banSite is an application with administrators and API keys in two processes that share a store.
type banSite struct {
	*testing.T
	auths  [2]*core.Auth
	admins [2]*admin.Admin
	keys   [2]*apikey.Keys
	mu     sync.Mutex
	now    time.Time
}

func (s *banSite) clock() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now }

func (s *banSite) wait(d time.Duration) { s.mu.Lock(); defer s.mu.Unlock(); s.now = s.now.Add(d) }

// TestBans bans a user in one process while the user signs in and creates API keys in both, on the store of each
// database and with both strategies. Afterwards no session and no key of the user works.
func TestBans(t *testing.T) {
	onEachStore(t, func(t *testing.T, kept core.Store, strategy core.Strategy, ada *core.User) {
		s := &banSite{T: t, now: time.Now().UTC().Truncate(time.Second)}
		for i := range s.auths {
			s.admins[i] = admin.New(admin.Options{Guard: func(context.Context, *core.Session) error { return nil }})
			s.keys[i] = apikey.New(apikey.Options{Scopes: []apikey.Scope{{Name: "orders:read"}}, MaxKeys: 1000})
			auth, err := core.New(core.Config{
				URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
				Getenv: func(string) string { return "" }, StoreTimeout: time.Minute, Now: s.clock,
				Logger: slog.New(slog.DiscardHandler), Session: core.SessionConfig{Strategy: strategy},
				Plugins: []core.Plugin{s.admins[i], s.keys[i]}, InsecureNoLimits: true,
			})
			check(t, err)
			s.auths[i] = auth
		}
		// Two minutes after a ban, a task ends the sessions of the banned user again. If the ban was lifted while the task
		// runs, this includes a new session. The three rounds take 90 seconds of the clock.
		for range 3 {
			s.bans(ada)
		}
		s.finds(ada)
	})
}

func (s *banSite) bans(ada *core.User) {
	s.Helper()
	ctx := s.Context()
	var sessions [9]http.Header
	var keys [9]core.Secret
	signIn := func(i int) bool {
		cookies, err := s.auths[i%2].NewSession(ctx, s.request("/", nil), ada)
		if err != nil && !errors.Is(err, core.ErrAccessDenied) {
			s.Error(err)
		}
		sessions[i] = http.Header{"Cookie": {cookieHeader(cookies)}}
		return err == nil
	}
	create := func(i int) {
		_, text, err := s.keys[i%2].Create(ctx, apikey.NewKey{UserID: ada.ID, Name: "x", Scopes: []string{"orders:read"}})
		if err != nil && !errors.Is(err, core.ErrAccessDenied) {
			s.Error(err)
		}
		keys[i] = text
	}
	signIn(8)
	create(8)
	if !s.works(0, sessions[8]) || !s.allows(1, keys[8]) {
		s.Fatal("a session or a key does not work before the ban")
	}
	together(8, func(i int) bool {
		switch {
		case i == 0:
			check(s.T, s.admins[0].Ban(ctx, ada.ID, admin.Ban{Reason: "Spam"}))
		case i%2 == 0:
			signIn(i)
		default:
			create(i)
		}
		return true
	})
	if signIn(0) {
		s.Error("a banned user got a session")
	}
	s.wait(30 * time.Second) // longer than Revocation.Every
	for i := range sessions {
		for process := range s.auths {
			if sessions[i] != nil && s.works(process, sessions[i]) {
				s.Errorf("session %d of a banned user works in process %d", i, process)
			}
			if keys[i] != "" && s.allows(process, keys[i]) {
				s.Errorf("key %d of a banned user works in process %d", i, process)
			}
		}
	}
	check(s.T, s.admins[1].Unban(ctx, ada.ID, "", "Mistake"))
	if !signIn(1) || !s.works(0, sessions[1]) {
		s.Error("a user whose ban was lifted cannot sign in")
	}
}

// finds reads the list as an administrator does, by the beginning of the address or, on stores without an index for
// it, the whole address.
func (s *banSite) finds(ada *core.User) {
	s.Helper()
	cookies, err := s.auths[0].NewSession(s.Context(), s.request("/", nil), ada)
	check(s.T, err)
	header := http.Header{"Cookie": {cookieHeader(cookies)}, "Accept": {"application/json"}}
	for _, q := range []string{"", ada.ID, strings.ToUpper(ada.Email)} {
		response := s.auths[1].Handle(s.Context(), s.request("/auth/admin?q="+q, header))
		var page struct{ Users []struct{ ID string } }
		check(s.T, json.Unmarshal(response.Body, &page))
		found := false
		for _, u := range page.Users {
			found = found || u.ID == ada.ID
		}
		if !found {
			s.Errorf("the list for %q is %d %s", q, response.Status, response.Body)
		}
	}
	response := s.auths[1].Handle(s.Context(), s.request("/auth/admin/user?user="+ada.ID, header))
	if response.Status != http.StatusOK || !strings.Contains(string(response.Body), `"apiKeys"`) {
		s.Errorf("the user is %d %s", response.Status, response.Body)
	}
	for _, id := range []string{"nobody", "00000000-0000-4000-8000-000000000000", "'--"} {
		response := s.auths[1].Handle(s.Context(), s.request("/auth/admin/user?user="+id, header))
		if response.Status != http.StatusNotFound {
			s.Errorf("the user %s is %d %s", id, response.Status, response.Body)
		}
	}
}

func (s *banSite) request(target string, header http.Header) *core.Request {
	if header == nil {
		header = http.Header{}
	}
	path, _, _ := strings.Cut(target, "?")
	return &core.Request{
		Method: "GET", Target: target, Path: path, Hosts: []string{"app.example"}, Scheme: "https",
		RemoteAddr: "192.0.2.7:4711", Header: header,
	}
}

func cookieHeader(cookies []core.Cookie) string {
	var all []string
	for _, c := range cookies {
		all = append(all, c.Name+"="+c.Value)
	}
	return strings.Join(all, "; ")
}

// works reports whether a process accepts the cookies of a session.
func (s *banSite) works(process int, header http.Header) bool {
	session, err := s.auths[process].Visit(s.Context(), s.request("/", header)).Session()
	check(s.T, err)
	return session != nil
}

// allows reports whether a process accepts an API key.
func (s *banSite) allows(process int, key core.Secret) bool {
	header := http.Header{"Authorization": {"Bearer " + string(key)}}
	_, refusal := s.auths[process].Visit(s.Context(), s.request("/api", header)).RequirePrincipal()
	return refusal == nil
}
