package mail_test

import (
	"encoding/json"
	"log/slog"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/mail"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/smtp"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// codeSite is an application whose emails go through a real SMTP server.
type codeSite struct {
	*testing.T
	auth    *core.Auth
	server  *mail.Server
	cookies map[string]string
}

// tracking is a plugin that stores in every session when the user authenticated.
type tracking struct{}

func (tracking) Attach(h *core.PluginHost) error { h.TrackAuthentication(); return nil }

func newCodeSite(t *testing.T, strategy core.Strategy, o mail.Options) (*codeSite, *memory.Store) {
	t.Helper()
	s := &codeSite{T: t, server: start(t, o), cookies: map[string]string{}}
	options := smtp.Options{Server: core.Secret("smtp://" + s.server.Addr)}
	options.From = "no-reply@example.com"
	p := smtp.New("email", options)
	p.Code = true
	kept := memory.New()
	var err error
	s.auth, err = core.New(core.Config{
		URL: "https://app.example", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: kept,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Session: core.SessionConfig{Strategy: strategy}, Plugins: []core.Plugin{tracking{}}, Providers: []core.Provider{p},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s, kept
}

func (s *codeSite) send(method, path string, form url.Values) *core.Response {
	s.Helper()
	r := &core.Request{
		Method: method, Target: "/auth/" + path, Hosts: []string{"app.example"}, Scheme: "https",
		Header: http.Header{"Accept": {"text/html"}},
	}
	if path == "csrf" || path == "session" {
		r.Header.Set("Accept", "application/json")
	}
	var cookies []string
	for name, value := range s.cookies {
		cookies = append(cookies, name+"="+value)
	}
	r.Header.Set("Cookie", strings.Join(cookies, "; "))
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("Origin", "https://app.example")
		r.Body = strings.NewReader(form.Encode())
	}
	response := s.auth.Handle(s.Context(), r)
	s.keep(response.Cookies)
	return response
}

func (s *codeSite) keep(cookies []core.Cookie) {
	s.Helper()
	for _, c := range cookies {
		parsed, err := http.ParseSetCookie(c.String())
		if err != nil {
			s.Fatal(err)
		}
		if s.cookies[c.Name] = parsed.Value; parsed.MaxAge < 0 || parsed.Value == "" {
			delete(s.cookies, c.Name)
		}
	}
}

func (s *codeSite) post(path string, form url.Values) *core.Response {
	s.Helper()
	var token struct{ CSRFToken string }
	if err := json.Unmarshal(s.send("GET", "csrf", nil).Body, &token); err != nil {
		s.Fatal(err)
	}
	form.Set("csrfToken", token.CSRFToken)
	return s.send("POST", path, form)
}

var sixDigits = regexp.MustCompile(`(?m)^\D*(\d{6})\D*$`)

// code returns the code in both parts of the last of n emails.
func (s *codeSite) code(n int) string {
	s.Helper()
	all := s.server.Messages()
	if len(all) != n {
		s.Fatalf("%d emails, want %d", len(all), n)
	}
	text, html, err := all[n-1].Parts()
	if err != nil {
		s.Fatal(err)
	}
	found := sixDigits.FindStringSubmatch(strings.ReplaceAll(text, "\r\n", "\n"))
	if found == nil || !strings.Contains(html, found[1]) ||
		strings.Contains(all[n-1].Mail.Header.Get("Subject"), found[1]) {
		s.Fatalf("the email has the code %q: %s", found, text)
	}
	return found[1]
}

// TestCodes signs in with a code and authenticates again with another one. Each action sends exactly one email.
func TestCodes(t *testing.T) {
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			s, kept := newCodeSite(t, strategy, mail.Options{})
			s.post("signin/email", url.Values{"email": {"jane@example.com"}})
			s.post("callback/email", url.Values{"code": {s.code(1)}})
			if session := string(s.send("GET", "session", nil).Body); !strings.Contains(session, "jane@example.com") {
				t.Fatalf("the code of the sign-in gives the session %s", session)
			}
			user, err := kept.UserByEmail(t.Context(), "jane@example.com")
			if err != nil {
				t.Fatal(err)
			}
			s.cookies = map[string]string{}
			r := &core.Request{Method: "GET", Target: "/", Hosts: []string{"app.example"}, Scheme: "https"}
			cookies, err := s.auth.NewSession(t.Context(), r, user, core.SessionOptions{})
			if err != nil {
				t.Fatal(err)
			}
			s.keep(cookies)
			s.post("reauth?callbackUrl=/vault", url.Values{})
			if r := s.post("reauth?callbackUrl=/vault", url.Values{"code": {s.code(2)}}); r.Redirect !=
				"https://app.example/vault" {
				t.Errorf("the code of the re-authentication ends at %s: %v", r.Redirect, r.Err)
			}
			if n := len(s.server.Messages()); n != 2 {
				t.Errorf("%d emails", n)
			}
		})
	}
}

// TestCodesRefused: the server refuses the recipient. The page shows an error, and there is no code.
func TestCodesRefused(t *testing.T) {
	s, kept := newCodeSite(
		t,
		core.StrategyDatabase,
		mail.Options{Refuse: func(string) string { return "550 no such user" }},
	)
	user, err := kept.CreateUser(t.Context(), &core.User{
		ID: core.NewID(), Email: "jane@example.com", EmailVerified: time.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	r := &core.Request{Method: "GET", Target: "/", Hosts: []string{"app.example"}, Scheme: "https"}
	cookies, err := s.auth.NewSession(t.Context(), r, user, core.SessionOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s.keep(cookies)
	if r := s.post("reauth?callbackUrl=/vault", url.Values{}); !strings.Contains(r.Redirect, "/auth/reauth?") ||
		!strings.Contains(r.Redirect, "error=EmailSignin") {
		t.Errorf("ends at %d %s: %v", r.Status, r.Redirect, r.Err)
	}
	if n := len(s.server.Messages()); n != 0 {
		t.Errorf("%d emails", n)
	}
}
