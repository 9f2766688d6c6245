package apikey_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/apikey"
)

// strategies are the session strategies.
var strategies = map[string]core.Strategy{"jwt": core.StrategyJWT, "database": core.StrategyDatabase}

// TestMixedCredentials sends keys, bearer tokens and cookies in all combinations and spellings. There is one response
// to each, and none falls back to the cookie of another user.
func TestMixedCredentials(t *testing.T) {
	for name, strategy := range strategies {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(c *core.Config, _ *apikey.Options) {
				c.Session.Strategy, c.Session.Bearer = strategy, true
			})
			made := s.create(s.as("ada"), map[string]any{"name": "x", "scopes": []string{"orders:read"}})
			forged, key := apikey.Forged("acme_test", made.Key), made.Key
			eve := s.as("eve")
			session := s.token(eve)
			for _, row := range []struct {
				name   string
				header []string
				status int
				user   string
			}{
				{"a key", []string{"Bearer " + key}, 200, "ada"},
				{"another case of the scheme", []string{"bEaReR " + key}, 200, "ada"},
				{"a session token", []string{"Bearer " + session}, 200, "eve"},
				{"a forged key", []string{"Bearer " + forged}, 401, ""},
				{"a key twice", []string{"Bearer " + key, "Bearer " + key}, 400, ""},
				{"a key and a session token", []string{"Bearer " + key, "Bearer " + session}, 400, ""},
				{"a session token and a key", []string{"Bearer " + session, "Bearer " + key}, 400, ""},
				{"a key and a password", []string{"Bearer " + key, "Basic YTpi"}, 400, ""},
				{"a key as a password", []string{"Basic " + base64.StdEncoding.EncodeToString([]byte(key+":"))}, 401, ""},
				{"two keys in a line", []string{"Bearer " + key + ", Bearer " + key}, 400, ""},
				{"two keys with a space", []string{"Bearer " + key + " " + key}, 400, ""},
				{"a key without a scheme", []string{key}, 401, ""},
				{"no key", []string{"Bearer "}, 400, ""},
				{"a key and text", []string{"Bearer " + key + "x"}, 401, ""},
				{"64 KB", []string{"Bearer acme_test_" + strings.Repeat("x", 1<<16)}, 401, ""},
				{"a key and 64 KB", []string{"Bearer " + key + strings.Repeat("x", 1<<16)}, 401, ""},
				{"a control character", []string{"Bearer " + key + "\t"}, 200, "ada"}, // net/http trims it
				{"Unicode", []string{"Bearer " + key[:20] + "é" + key[21:]}, 400, ""},
			} {
				for cookie, client := range map[string]*http.Client{"": {}, " with a cookie": eve} {
					t.Run(row.name+cookie, func(t *testing.T) {
						var header []string
						for _, line := range row.header {
							header = append(header, "Authorization", line)
						}
						r := s.send(client, "GET", "/api", nil, header...)
						accepted := r.StatusCode == 200
						refused := r.StatusCode == 400 || r.StatusCode == 401
						switch {
						case row.status == 200 && (!accepted || !strings.HasPrefix(r.body, row.user+" ")):
							t.Errorf("%d %s, want %s", r.StatusCode, r.body, row.user)
						case row.status != 200 && cookie == "" && r.StatusCode != row.status:
							t.Errorf("%d %s, want %d", r.StatusCode, r.body, row.status)
						case row.status != 200 && accepted && isKey(row.header):
							t.Errorf("a key fell back to the cookie: %s", r.body)
						case !accepted && !refused:
							t.Errorf("%d %s", r.StatusCode, r.body)
						}
						if strings.Contains(r.body+fmt.Sprint(r.Header), key[20:]) {
							t.Error("the response repeats the key")
						}
					})
				}
			}
			r := s.send(&http.Client{}, "GET", "/api?access_token="+key+"&key="+key, nil, "X-Api-Key", key)
			if r.StatusCode != 401 {
				t.Errorf("a key elsewhere: %d", r.StatusCode)
			}
			s.leaks(made.Key)
		})
	}
}

// isKey reports whether a header presents a key as a bearer token.
func isKey(header []string) bool {
	for _, line := range header {
		if strings.HasPrefix(strings.ToLower(line), "bearer acme_test_") {
			return true
		}
	}
	return false
}

// leaks searches the log and the audit events for the secret of a key.
func (s *site) leaks(keys ...string) {
	s.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	told := s.log.String() + strings.Join(s.told, "\n")
	for _, key := range keys {
		secret := key[strings.LastIndex(key, "_")+1:]
		if strings.Contains(told, secret[:8]) || strings.Contains(told, secret[8:16]) {
			s.Errorf("the log or an audit event contains the key: %s", told)
		}
	}
}

// TestOutage makes the store fail in each way and while it is used. The response is 503, nothing is revoked, and no
// error contains the key.
func TestOutage(t *testing.T) {
	for name, strategy := range strategies {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(c *core.Config, _ *apikey.Options) { c.Session.Strategy = strategy })
			ada := s.as("ada")
			made := s.create(ada, map[string]any{"name": "x", "scopes": []string{"orders:read"}})
			for _, err := range []error{
				core.ErrStoreUnavailable, fmt.Errorf("db-1.internal, %s: %w", made.Key, core.ErrStoreUnavailable),
			} {
				s.store.breaks(err)
				for _, client := range []*http.Client{{}, ada} { // no fallback to the cookie
					r := s.send(client, "GET", "/api", nil, "Authorization", "Bearer "+made.Key)
					if r.StatusCode != 503 || strings.Contains(r.body, "db-1") {
						t.Errorf("%d %s", r.StatusCode, r.body)
					}
				}
				for _, action := range []string{"rotate", "revoke"} {
					r := s.post(ada, "api-keys/"+action, map[string]any{"id": made.ID})
					if r.StatusCode != 503 && r.StatusCode != 500 {
						t.Errorf("%s: %d %s", action, r.StatusCode, r.body)
					}
				}
			}
			s.store.breaks(errors.New("syntax error"))
			if r := s.call(made.Key); r.StatusCode != 500 && r.StatusCode != 503 {
				t.Errorf("another error: %d", r.StatusCode)
			}
			s.store.breaks(nil)
			if r := s.call(made.Key); r.StatusCode != 200 {
				t.Errorf("afterwards: %d %s", r.StatusCode, r.body)
			}
			if keys, err := s.keys.Of(t.Context(), "ada"); len(keys) != 1 || err != nil {
				t.Errorf("the keys are %v, %v", keys, err)
			}
		})
	}
}

// TestStorm sends thousands of wrong keys from one network, concurrently. They cost at most twenty queries, and a key
// that is in use continues to work.
func TestStorm(t *testing.T) {
	s := newSite(t, func(c *core.Config, _ *apikey.Options) {
		c.TrustedProxies, c.TrustHost = []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}, core.True
	})
	call := func(key string) reply {
		return s.send(http.DefaultClient, "GET", "/api", nil, "Authorization", "Bearer "+key, "X-Forwarded-For", "192.0.2.7")
	}
	made := s.create(s.as("ada"), map[string]any{"name": "x", "scopes": []string{"orders:read"}})
	if r := call(made.Key); r.StatusCode != 200 {
		t.Fatalf("the key: %d", r.StatusCode)
	}
	other := newSite(t)
	var wrong []string
	for range 200 {
		_, text, err := other.keys.Create(t.Context(), apikey.NewKey{
			Service: fmt.Sprint(len(wrong)), Name: "x", Scopes: []string{"*"},
		})
		if err != nil {
			t.Fatal(err)
		}
		wrong = append(wrong, string(text), apikey.Forged("acme_test", made.Key), string(text)[:30])
	}
	s.flush()
	s.store.count()
	var wait sync.WaitGroup
	for worker := range 8 {
		wait.Go(func() {
			for i := worker; i < len(wrong); i += 8 {
				if r := call(wrong[i]); r.StatusCode != 401 && r.StatusCode != 429 {
					t.Errorf("a wrong key: %d", r.StatusCode)
				}
			}
		})
	}
	wait.Wait()
	if n := s.store.count(); n > 20 {
		t.Errorf("%d wrong keys cost %d reads", len(wrong), n)
	}
	if r := call(made.Key); r.StatusCode != 200 {
		t.Errorf("the key in the storm: %d", r.StatusCode)
	}
	s.leaks(made.Key, wrong[0])
}

// TestActionsRefuseKeys sends a key to each action of core, of plugins/account and of this plugin. None accepts it, and
// none changes something, with or without the cookie of its user.
func TestActionsRefuseKeys(t *testing.T) {
	for name, strategy := range strategies {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, func(c *core.Config, _ *apikey.Options) {
				c.Session.Strategy, c.Session.Bearer = strategy, true
				c.Plugins = append(c.Plugins, account.New(account.Options{}))
			})
			ada := s.as("ada")
			made := s.create(ada, map[string]any{"name": "x", "scopes": []string{"orders:read"}})
			token := s.csrf(ada)
			for _, path := range []string{
				"api-keys", "api-keys/rotate", "api-keys/revoke", "account", "account/name", "account/email", "account/delete",
				"account/unlink", "account/sessions", "signout",
			} {
				for _, method := range []string{"GET", "POST"} {
					body := fmt.Sprintf(`{"csrfToken":%q,"id":%q,"name":"y","scopes":["orders:read"]}`, token, made.ID)
					r := s.send(ada, method, "/auth/"+path, strings.NewReader(body), "Authorization", "Bearer "+made.Key,
						"Accept", "application/json", "Content-Type", "application/json")
					if r.StatusCode < 400 && path != "signout" { // it does not end the session, see below
						t.Errorf("%s %s: %d %s", method, path, r.StatusCode, r.body)
					}
				}
			}
			if keys, err := s.keys.Of(t.Context(), "ada"); len(keys) != 1 || err != nil || keys[0].Name != "x" {
				t.Errorf("the keys are %v, %v", keys, err)
			}
			if u, err := s.store.User(t.Context(), "ada"); err != nil || u.Name != "ada" {
				t.Errorf("the user is %v, %v", u, err)
			}
			if r := s.send(ada, "GET", "/people", nil); r.StatusCode != 200 {
				t.Errorf("the session of the user: %d", r.StatusCode)
			}
		})
	}
}

// TestAuditNamesTheKey creates, replaces and revokes keys. Each event names the public ID of the key that it is about.
func TestAuditNamesTheKey(t *testing.T) {
	s := newSite(t)
	ada := s.as("ada")
	first := s.create(ada, map[string]any{"name": "x", "scopes": []string{"orders:read"}})
	var second newKey
	r := s.post(ada, "api-keys/rotate", map[string]any{"id": first.ID})
	if err := json.Unmarshal([]byte(r.body), &second); err != nil || r.StatusCode != 200 {
		t.Fatalf("rotate: %d %s", r.StatusCode, r.body)
	}
	if r := s.post(ada, "api-keys/revoke", map[string]any{"id": second.ID}); r.StatusCode != 200 {
		t.Fatalf("revoke: %d %s", r.StatusCode, r.body)
	}
	s.mu.Lock()
	told := slices.DeleteFunc(slices.Clone(s.told), func(e string) bool { return !strings.Contains(e, "Name:key.") })
	s.mu.Unlock()
	want := [][2]string{{"key.created", first.ID}, {"key.rotated", second.ID}, {"key.revoked", second.ID}}
	if len(told) != len(want) {
		t.Fatalf("audited %q", told)
	}
	for i, w := range want {
		if !strings.Contains(told[i], "Name:"+w[0]+" ") || !strings.Contains(told[i], " Credential:apikey:"+w[1]+" ") {
			t.Errorf("audited %s, want %v", told[i], w)
		}
	}
	s.leaks(first.Key, second.Key)
}

// checker is a plugin that refuses a user from some time on, like a ban.
type checker struct{ banned *bool }

func (c checker) Attach(h *core.PluginHost) error {
	h.AddUserCheck(func(context.Context, string) error {
		if *c.banned {
			return core.NewError(core.ErrAccessDenied, errors.New("banned"))
		}
		return nil
	})
	return nil
}

// TestBannedWhileCreating bans a user after the request for a key was allowed. No key is stored.
func TestBannedWhileCreating(t *testing.T) {
	banned := false
	s := newSite(t, func(c *core.Config, _ *apikey.Options) { c.Plugins = append(c.Plugins, checker{&banned}) })
	n := apikey.NewKey{UserID: "ada", Name: "x", Scopes: []string{"orders:read"}}
	if _, _, err := s.keys.Create(t.Context(), n); err != nil {
		t.Fatal(err)
	}
	banned = true
	if _, _, err := s.keys.Create(t.Context(), n); !errors.Is(err, core.ErrAccessDenied) {
		t.Errorf("creating a key returned %v", err)
	}
	if all, err := s.keys.Of(t.Context(), "ada"); err != nil || len(all) != 1 {
		t.Errorf("the keys are %v, %v", all, err)
	}
}
