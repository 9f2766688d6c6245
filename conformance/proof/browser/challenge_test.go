package browser_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	forms "github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// captcha is a stand-in for Cloudflare Turnstile on another origin: its script adds a frame and the field with a
// token to each form, and siteverify accepts each token once.
type captcha struct {
	mu     sync.Mutex
	host   string
	made   map[string]string // actions by token
	posted int
}

func (s *captcha) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch r.URL.Path {
	case "/turnstile/v0/api.js":
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = fmt.Fprintf(w, `const from = new URL(document.currentScript.src).origin;
const render = () => document.querySelectorAll(".cf-turnstile").forEach((box) => {
	const frame = document.createElement("iframe"), field = document.createElement("input");
	frame.width = 300; frame.height = 65; frame.title = "Challenge";
	frame.src = from + "/frame?action=" + box.dataset.action;
	field.type = "hidden"; field.name = "cf-turnstile-response";
	addEventListener("message", (event) => {
		if (event.source === frame.contentWindow) { field.value = event.data; box.dataset.done = true; }
	});
	box.append(frame, field);
});
document.readyState === "loading" ? addEventListener("DOMContentLoaded", render) : render();`)
	case "/frame":
		token := fmt.Sprintf("token-%d", len(s.made))
		s.made[token] = r.FormValue("action")
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Challenge</title><script>
parent.postMessage(%q, "*")</script>You are human.`, token)
	case "/turnstile/v0/siteverify":
		s.posted++
		action, ok := s.made[r.FormValue("response")]
		delete(s.made, r.FormValue("response"))
		_ = json.NewEncoder(w).Encode(map[string]any{"success": ok, "hostname": s.host, "action": action})
	}
}

// TestChallenge signs in with the widget of a stand-in for Turnstile: once with a wrong password, and again on the
// page after it. Without JavaScript the page says that it is needed. The page has no findings of axe-core and does
// not scroll sideways at 320 pixels.
func TestChallenge(t *testing.T) {
	listener, origin := listen(t)
	host, _, _ := strings.Cut(strings.TrimPrefix(origin, "http://"), ":")
	service := &captcha{host: host, made: map[string]string{}}
	server := httptest.NewServer(service)
	defer server.Close()
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: origin, Store: memory.New(),
		Getenv: func(string) string { return "" },
		Callbacks: core.Callbacks{Challenge: forms.Turnstile(forms.TurnstileOptions{
			SiteKey: "the-site", Secret: "the-secret", Origin: server.URL,
		})},
		Session: core.SessionConfig{Strategy: core.StrategyJWT},
		Providers: []core.Provider{&core.CredentialsProvider{
			Fields: []core.Field{{Name: "email", Type: "email"}, {Name: "password", Type: "password"}},
			Authorize: func(_ context.Context, form map[string]string, _ *core.Request) (*core.User, error) {
				if form["password"] != password {
					return nil, nil
				}
				return &core.User{ID: "lovell", Email: lovell}, nil
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	mux, adapter := http.NewServeMux(), authhttp.New(auth)
	adapter.Mount(mux)
	mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	mux.Handle("/", adapter.Hook(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, _ := authhttp.Session(r)
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, "<!doctype html><title>Home</title>signed in: %t", session != nil)
	})))
	t.Cleanup(serveHTTP(listener, mux))
	v := visit(t, origin)
	v.do(chromedp.EmulateViewport(320, 640))
	v.open("/auth/signin")
	v.do(chromedp.WaitVisible(`.cf-turnstile[data-done]`))
	v.accessible("the sign-in page with a widget")
	if wide := run(v, chromedp.Evaluate[float64](`document.documentElement.scrollWidth`)); wide > 320 {
		t.Errorf("the page is %v pixels wide", wide)
	}
	v.do(write(`[type=email]`, lovell)) // the script keeps it for the next page
	for _, typed := range []string{"wrong", password} {
		v.do(chromedp.WaitVisible(`.cf-turnstile[data-done]`))
		v.do(write(`[type=password]`, typed))
		v.follow(click(`form[action*="/callback/"] button[type=submit]`))
	}
	v.sees("signed in: true")
	if service.posted != 2 {
		t.Errorf("%d tokens were verified, want 2", service.posted)
	}
}
