package people_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/admin"
)

// TestImpersonations uses the account of a user in two processes, on the store of each database and with both
// strategies. The administrator's sign-out everywhere ends it, and the user's list of recent activity shows it.
func TestImpersonations(t *testing.T) {
	onEachStore(t, func(t *testing.T, kept core.Store, strategy core.Strategy, ada *core.User) {
		s := &banSite{T: t, now: time.Now().UTC().Truncate(time.Second)}
		root, err := kept.CreateUser(t.Context(), &core.User{ID: core.NewID(), Email: "root@example.com"})
		check(t, err)
		var accounts [2]*account.Account
		for i := range s.auths {
			accounts[i] = account.New(account.Options{Activity: true})
			s.admins[i] = admin.New(admin.Options{
				Guard: func(_ context.Context, by *core.Session) error {
					if by.UserID != root.ID {
						return core.ErrForbidden
					}
					return nil
				},
				IsAdmin:     func(_ context.Context, id string) (bool, error) { return id == root.ID, nil },
				Impersonate: true,
			})
			s.auths[i], err = core.New(core.Config{
				URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
				Getenv: func(string) string { return "" }, StoreTimeout: time.Minute, Now: s.clock,
				Logger: slog.New(slog.DiscardHandler), Session: core.SessionConfig{Strategy: strategy},
				Plugins: []core.Plugin{accounts[i], s.admins[i]}, InsecureNoLimits: true,
			})
			check(t, err)
		}
		own := s.signsIn(root)
		acting := s.acts(0, own, "impersonate", map[string]string{"user": ada.ID, "reason": "Ticket 7"})
		for process := range s.auths {
			if got := s.who(process, acting); got != ada.ID+" by "+root.ID {
				t.Fatalf("in process %d the session is %q", process, got)
			}
		}
		refused := s.post(1, acting, "account/end", map[string]string{"session": "all"})
		if refused.Status != http.StatusForbidden {
			t.Errorf("a change has status %d: %s", refused.Status, refused.Body)
		}
		back := s.acts(1, acting, "end-impersonation", nil)
		s.wait(time.Minute) // longer than Revocation.Every
		if got := s.who(0, back); got != root.ID+" by " {
			t.Errorf("after the end the session is %q", got)
		}
		if got := s.who(0, acting); got != "" {
			t.Errorf("the impersonated session is still %q", got)
		}
		acting = s.acts(0, back, "impersonate", map[string]string{"user": ada.ID, "reason": "Ticket 8"})
		_, err = s.auths[1].EndSessions(t.Context(), root.ID, core.EndOptions{})
		check(t, err)
		s.wait(time.Minute)
		for process := range s.auths {
			if got := s.who(process, acting); got != "" {
				t.Errorf("after the administrator's sign-out the session in process %d is %q", process, got)
			}
		}
		s.showsActivity(accounts[1], ada)
	})
}

// showsActivity waits until the background writes are done, and checks the list.
func (s *banSite) showsActivity(accounts *account.Account, ada *core.User) {
	s.Helper()
	for deadline := time.Now().Add(time.Minute); ; {
		list, err := accounts.Activity(s.Context(), ada.ID)
		check(s.T, err)
		if len(list) >= 2 && list[0].Event == "admin.impersonated" && list[0].Support {
			return
		}
		if time.Now().After(deadline) {
			s.Fatalf("the recent activity is %+v", list)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// signsIn returns the cookies of a user who has signed in with two factors.
func (s *banSite) signsIn(u *core.User) http.Header {
	s.Helper()
	cookies, err := s.auths[0].NewSession(s.Context(), s.request("/", nil), u, core.SessionOptions{
		AuthTime: s.clock(), Methods: []amr.Method{amr.Password, amr.OTP},
	})
	check(s.T, err)
	return http.Header{"Cookie": {cookieHeader(cookies)}}
}

// who returns the user and the actor of a session, or "".
func (s *banSite) who(process int, header http.Header) string {
	s.Helper()
	session, err := s.auths[process].Visit(s.Context(), s.request("/", header)).Session()
	check(s.T, err)
	if session == nil {
		return ""
	}
	return session.UserID + " by " + session.Actor
}

// post sends JSON to an action with the CSRF token.
func (s *banSite) post(process int, header http.Header, action string, fields map[string]string) *core.Response {
	s.Helper()
	first := s.auths[process].Handle(s.Context(), s.request("/auth/csrf", header))
	var token struct{ CSRFToken string }
	check(s.T, json.Unmarshal(first.Body, &token))
	body := map[string]string{"csrfToken": token.CSRFToken}
	for name, value := range fields {
		body[name] = value
	}
	text, err := json.Marshal(body)
	check(s.T, err)
	r := s.request("/auth/"+action, http.Header{
		"Cookie":       {strings.Join([]string{header.Get("Cookie"), cookieHeader(first.Cookies)}, "; ")},
		"Content-Type": {"application/json"}, "Accept": {"application/json"}, "Origin": {"https://app.example"},
	})
	r.Method, r.Body = http.MethodPost, strings.NewReader(string(text))
	return s.auths[process].Handle(s.Context(), r)
}

// acts posts to an action of administration, and returns the cookies of the browser afterwards.
func (s *banSite) acts(process int, header http.Header, verb string, fields map[string]string) http.Header {
	s.Helper()
	r := s.post(process, header, "admin/"+verb, fields)
	if r.Status != http.StatusOK {
		s.Fatalf("%s has status %d: %s", verb, r.Status, r.Body)
	}
	jar := map[string]string{}
	for _, one := range strings.Split(header.Get("Cookie"), "; ") {
		name, value, _ := strings.Cut(one, "=")
		jar[name] = value
	}
	for _, c := range r.Cookies {
		if name, value, _ := strings.Cut(cookieHeader([]core.Cookie{c}), "="); c.HasMaxAge && c.MaxAge == 0 {
			delete(jar, name)
		} else {
			jar[name] = value
		}
	}
	var all []string
	for name, value := range jar {
		all = append(all, name+"="+value)
	}
	return http.Header{"Cookie": {strings.Join(all, "; ")}}
}
