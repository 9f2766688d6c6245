package people_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha1"
	"encoding/base32"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
)

// factorSite is an application with second factors in two processes that share a store.
type factorSite struct {
	*testing.T
	auths [2]*core.Auth
	mu    sync.Mutex
	now   time.Time
}

func newFactorSite(t *testing.T, kept core.Store) *factorSite {
	t.Helper()
	s := &factorSite{T: t, now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)}
	many := limit.Rate{Burst: 10_000, Every: time.Millisecond}
	for i := range s.auths {
		auth, err := core.New(core.Config{
			URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
			Getenv: func(string) string { return "" }, StoreTimeout: time.Minute,
			Now: func() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return s.now },
			Limits: core.Limits{Rates: map[limit.Attempt]limit.Rates{
				limit.AttemptCode: {Network: many}, limit.AttemptCredentials: {
					Network: many, Identifier: many, Visitor: limit.Rate{Burst: 9_999, Every: time.Millisecond},
				},
			}},
			Plugins: []core.Plugin{secondfactor.New(secondfactor.Options{})},
			Providers: []core.Provider{&core.CredentialsProvider{
				Authorize: func(ctx context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
					return kept.UserByEmail(ctx, form["email"])
				},
			}},
		})
		check(t, err)
		s.auths[i] = auth
	}
	return s
}

func (s *factorSite) wait(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = s.now.Add(d)
}

// factorBrowser stores cookies.
type factorBrowser struct {
	*factorSite
	auth    *core.Auth
	cookies map[string]string
}

func (s *factorSite) browse(process int) *factorBrowser {
	return &factorBrowser{s, s.auths[process%2], map[string]string{}}
}

func (b *factorBrowser) send(method, path string, fields url.Values) (int, []byte) {
	r := &core.Request{
		Method: method, Target: "/auth/" + path, Hosts: []string{"app.example"}, Scheme: "https",
		RemoteAddr: "192.0.2.7:4711", Header: http.Header{"Accept": {"application/json"}},
	}
	for name, value := range b.cookies {
		r.Header.Set("Cookie", r.Header.Get("Cookie")+name+"="+value+"; ")
	}
	if fields != nil {
		var token struct{ CSRFToken string }
		_, body := b.send("GET", "csrf", nil)
		_ = json.Unmarshal(body, &token)
		fields.Set("csrfToken", token.CSRFToken)
		r.Header.Set("Cookie", "")
		for name, value := range b.cookies {
			r.Header.Set("Cookie", r.Header.Get("Cookie")+name+"="+value+"; ")
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "https://app.example")
		r.Body = strings.NewReader(fields.Encode())
	}
	response := b.auth.Handle(b.Context(), r)
	for _, c := range response.Cookies {
		if c.HasMaxAge && c.MaxAge <= 0 || !c.Expires.IsZero() && c.Expires.Before(b.now) {
			delete(b.cookies, c.Name)
			continue
		}
		if parsed, err := http.ParseSetCookie(c.String()); err == nil {
			b.cookies[c.Name] = parsed.Value
		}
	}
	return response.Status, response.Body
}

func (b *factorBrowser) signIn(email string) {
	b.send("POST", "callback/credentials", url.Values{"email": {email}})
}

func (b *factorBrowser) signedIn() bool {
	_, body := b.send("GET", "session", nil)
	return string(body) != "null"
}

// code returns the code of an authenticator app at the site's time.
func (s *factorSite) code(secret string) string { return totp(s.T, secret, s.now) }

// totp returns the code of an authenticator app (RFC 6238), computed independently of the plugin.
func totp(t *testing.T, secret string, at time.Time) string {
	t.Helper()
	key, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(secret)
	check(t, err)
	mac := hmac.New(sha1.New, key)
	mac.Write(binary.BigEndian.AppendUint64(nil, uint64(at.Unix()/30)))
	sum := mac.Sum(nil)
	return fmt.Sprintf("%06d", binary.BigEndian.Uint32(sum[sum[19]&15:])&0x7fffffff%1_000_000)
}

// TestFactorRaces uses one code 50 times at once, in two processes, on the store of each database: one sign-in
// succeeds. Of 60 concurrent wrong codes at most 20 are compared, and the code that is right is refused afterwards.
func TestFactorRaces(t *testing.T) {
	for _, engine := range stores {
		t.Run(engine.name, func(t *testing.T) {
			t.Parallel()
			kept := engine.empty(t)
			s := newFactorSite(t, kept)
			const email = "ada@example.com"
			made, err := kept.CreateUser(t.Context(), &core.User{ID: core.NewID(), Email: email, EmailVerified: s.now})
			check(t, err)
			b := s.browse(0)
			b.signIn(email)
			var app struct{ Secret string }
			var enrolled struct{ RecoveryCodes []string }
			_, body := b.send("GET", "second-factor/enroll", nil)
			check(t, json.Unmarshal(body, &app))
			_, body = b.send("POST", "second-factor/enroll", url.Values{"code": {s.code(app.Secret)}})
			if err := json.Unmarshal(body, &enrolled); err != nil || len(enrolled.RecoveryCodes) != 10 {
				t.Fatalf("enrollment: %s", body)
			}
			pending := func(n int) []*factorBrowser {
				all := make([]*factorBrowser, n)
				for i := range all {
					all[i] = s.browse(i)
					all[i].signIn(email)
				}
				return all
			}
			s.wait(time.Minute)
			for name, code := range map[string]string{"app": s.code(app.Secret), "recovery": enrolled.RecoveryCodes[4]} {
				all := pending(50)
				won := together(len(all), func(i int) bool {
					all[i].send("POST", "second-factor", url.Values{"code": {code}})
					return all[i].signedIn()
				})
				if won != 1 {
					t.Errorf("%s: %d of 50 concurrent uses of one code succeeded", name, won)
				}
			}
			s.wait(25 * time.Hour)
			all := pending(60)
			compared := together(len(all), func(i int) bool {
				status, _ := all[i].send("POST", "second-factor", url.Values{"code": {"000000"}})
				return status == http.StatusUnprocessableEntity
			})
			if compared > 20 {
				t.Errorf("%d wrong codes were compared", compared)
			}
			for range 20 - compared { // requests that met others at the record
				b := pending(1)[0]
				b.send("POST", "second-factor", url.Values{"code": {"000000"}})
			}
			last := pending(1)[0]
			if status, _ := last.send("POST", "second-factor", url.Values{"code": {s.code(app.Secret)}}); last.signedIn() {
				t.Errorf("after 20 wrong codes a code is accepted: %d", status)
			}
			left, err := kept.(store.RecordStore).UserRecords(t.Context(), made.ID, "recovery")
			if err != nil || len(left) != 9 {
				t.Errorf("%d recovery codes are left, %v", len(left), err)
			}
		})
	}
}
