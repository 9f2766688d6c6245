package core_test

import (
	"context"
	"encoding/json"
	"log/slog"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// letterbox returns an email provider that counts its emails.
func letterbox(sent *int) *core.EmailProvider {
	return &core.EmailProvider{Send: func(context.Context, core.Email) error { *sent++; return nil }}
}

// TestPostsNeedTheToken sends every POST request that a page of another site can cause: with a form, with another form
// type, and with fetch without CORS. Nothing is started or ended.
func TestPostsNeedTheToken(t *testing.T) {
	t.Parallel()
	sent := 0
	store := &tokenRows{sessionRows: newSessionRows(), tokens: map[string]store.VerificationToken{}}
	jwt := core.SessionConfig{Strategy: core.StrategyJWT}
	a := newApp(t, core.Config{Store: store, Session: jwt, Providers: []core.Provider{
		passwords(), (&service{}).provider("op"), letterbox(&sent),
		&core.EmailProvider{ID: "confirmed", ConfirmLink: core.True, Send: letterbox(&sent).Send},
	}})
	fields := url.Values{
		"email": {"ada@example.com"}, "password": {"engine"}, "data": {`{"name":"Eve"}`}, "callbackUrl": {"/x"},
	}.Encode()
	for _, path := range []string{
		"signin", "signin/op", "signin/email", "signin/credentials", "signout", "session", "callback/credentials",
		"callback/confirmed?token=x&email=ada@example.com",
	} {
		for _, way := range []struct{ contentType, body string }{
			{"application/x-www-form-urlencoded", fields},
			{"application/x-www-form-urlencoded", fields + "&csrfToken="},
			{"text/plain", fields}, {"text/plain", `{"email":"ada@example.com","password":"engine"}`},
			{"multipart/form-data; boundary=x", "--x--"}, {"", fields},
			{"application/json", `{"email":"ada@example.com","password":"engine"}`},
		} {
			b := visit(t, a)
			signIn(t, b)
			held := b.cookies[sessionCookie]
			b.header.Set("Origin", "https://evil.example")
			b.header.Set("Sec-Fetch-Site", "cross-site")
			r := b.send("POST", "/auth/"+path, way.contentType, way.body)
			switch refused := r.Redirect == "https://app.test/auth/signin?error=MissingCSRF"; {
			case path == "session" && (r.Status != 400 || string(r.Body) != "null"):
				t.Errorf("%s as %q: got status %d: %s", path, way.contentType, r.Status, r.Body)
			case path != "session" && !refused:
				t.Errorf("%s as %q: got status %d to %q", path, way.contentType, r.Status, r.Redirect)
			}
			if b.cookies[sessionCookie] != held || sent > 0 || len(store.tokens) > 0 ||
				b.cookies["__Secure-authjs.state"] != "" {
				t.Errorf("%s as %q: something happened", path, way.contentType)
			}
		}
	}
}

// TestForeignPages checks a link from another site to a sign-in, and that the form cannot be framed.
func TestForeignPages(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords(), (&service{}).provider("op")}})
	for _, path := range []string{
		"signin/op", "signin/op?callbackUrl=%2Fx", "signin/credentials", "signin/op/",
		"callback/credentials?email=ada@example.com&password=engine", "signin/op?csrfToken=x",
	} {
		b := visit(t, a)
		r := b.get("/auth/" + path)
		if r.Err == nil || strings.Contains(r.Redirect, "op.example") || b.cookies[sessionCookie] != "" ||
			b.cookies["__Secure-authjs.state"] != "" || b.cookies["__Secure-authjs.pkce.code_verifier"] != "" {
			t.Errorf("GET %s began something: %d to %q", path, r.Status, r.Redirect)
		}
	}
	for _, path := range []string{"signin", "signout", "error", "verify-request"} {
		h := visit(t, a).get("/auth/" + path).Header
		if !strings.Contains(h.Get("Content-Security-Policy"), "frame-ancestors 'none'") ||
			h.Get("X-Frame-Options") != "DENY" {
			t.Errorf("%s may be framed: %q, %q", path, h.Get("Content-Security-Policy"), h.Get("X-Frame-Options"))
		}
	}
}

// TestReadingChangesNothing requests sign-out and session as images, prefetches and preflights do.
func TestReadingChangesNothing(t *testing.T) {
	t.Parallel()
	for name, config := range map[string]core.Config{
		"jwt": {}, "database": {Store: newSessionRows(), Session: core.SessionConfig{Strategy: core.StrategyDatabase}},
	} {
		t.Run(name, func(t *testing.T) {
			config.Providers = []core.Provider{passwords(), (&service{}).provider("op")}
			a := newApp(t, config)
			b := visit(t, a)
			signIn(t, b)
			before := string(b.get("/auth/session").Body)
			for _, path := range []string{
				"signout", "signout?csrfToken=" + b.csrf(), "session",
				"session?data=%7B%22name%22%3A%22Eve%22%7D&csrfToken=" + b.csrf(), "signout/", "session/",
			} {
				for _, headers := range []map[string]string{
					{"Sec-Fetch-Dest": "image", "Sec-Fetch-Site": "cross-site", "Accept": "image/*"}, {"Sec-Purpose": "prefetch"},
					{"Purpose": "prefetch"}, {"X-Moz": "prefetch"},
					{"X-HTTP-Method-Override": "POST"}, {"X-Method-Override": "POST"}, {},
				} {
					for _, method := range []string{"GET", "HEAD", "OPTIONS", "PUT", "DELETE", "post"} {
						b.header = map[string][]string{}
						for k, v := range headers {
							b.header.Set(k, v)
						}
						r := b.send(method, "/auth/"+path, "application/x-www-form-urlencoded",
							"csrfToken="+url.QueryEscape(b.cookies["__Host-authjs.csrf-token"][:64]))
						if method != "GET" && (r.Status != 400 || len(r.Cookies) > 0) {
							t.Errorf("%s %s: got status %d with %d cookies", method, path, r.Status, len(r.Cookies))
						}
						if method == "GET" && r.Status != 200 {
							t.Errorf("GET %s: got status %d", path, r.Status)
						}
					}
				}
			}
			b.header = map[string][]string{}
			if after := string(b.get("/auth/session").Body); after != before || before == "null" {
				t.Errorf("the session was %s and is %s", before, after)
			}
		})
	}
}

// readOption decodes an option like a parser of configuration files.
func readOption(text string, option any) { _ = json.Unmarshal([]byte(text), option) }

// TestTheCheckStaysOn tries to disable the CSRF check through configuration files and the environment.
func TestTheCheckStaysOn(t *testing.T) {
	t.Parallel()
	options := core.Config{
		Secrets: []core.Secret{testSecret}, URL: "https://app.test", Now: newClock().Now, Rand: &counter{},
		Logger: slog.New(slog.DiscardHandler), Providers: []core.Provider{passwords()},
	}
	options.Getenv = func(name string) string {
		if strings.Contains(name, "CSRF") || strings.Contains(name, "SKIP") || strings.Contains(name, "INSECURE") {
			return "true"
		}
		return ""
	}
	for _, text := range []string{`{"skip":true}`, `{"Skip":true}`, `true`, `"skip"`, `1`, `{"skipCSRFCheck":true}`} {
		readOption(text, &options.CSRF)
	}
	kind := reflect.TypeFor[core.CSRFPolicy]()
	for i := range kind.NumField() {
		if kind.Field(i).IsExported() {
			t.Errorf("a configuration file can set CSRFPolicy.%s", kind.Field(i).Name)
		}
	}
	a, err := core.New(options)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct{ query, body, header string }{
		{"?skipCSRFCheck=true", "", ""}, {"?csrf=false&skip=1&disableCsrf=1", "", ""},
		{"", "skipCSRFCheck=true&csrf=off", ""}, {"", "", "X-Skip-Csrf"}, {"", "", "X-Requested-With"},
		{"", "", "X-Csrf-Disabled"},
		{"", "", "Authorization"},
	} {
		b := visit(t, a)
		signIn(t, b)
		if row.header != "" {
			b.header.Set(row.header, "true")
		}
		b.send("POST", "/auth/signout"+row.query, "application/x-www-form-urlencoded", row.body)
		if b.cookies[sessionCookie] == "" {
			t.Errorf("%+v signed out", row)
		}
	}
	options.CSRF = core.InsecureSkipCSRFCheck() // proves that the checks above can fail
	if a, err = core.New(options); err != nil {
		t.Fatal(err)
	}
	b := visit(t, a)
	b.post("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
	if b.cookies[sessionCookie] == "" {
		t.Error("the typed option does not")
	}
}
