package peers_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// site is an application with sign-in.
type site struct {
	*httptest.Server
	store *memory.Store
	auth  *core.Auth

	mu      sync.Mutex
	log     bytes.Buffer
	signIns []core.SignInEvent
	skew    time.Duration
	// audit are the audit events, such as "reauth refused stale".
	audit []string
	// plugins are the plugins of the site.
	plugins []core.Plugin
}

// newSite reserves a free port for an application. Its origin is known before its providers are, because they register
// it.
func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{store: memory.New()}
	s.Server = httptest.NewServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	return s
}

// Write records log lines.
func (s *site) Write(p []byte) (int, error) { s.mu.Lock(); defer s.mu.Unlock(); return s.log.Write(p) }

func (s *site) logged() string { s.mu.Lock(); defer s.mu.Unlock(); return s.log.String() }

// setSkew sets the skew of the application's clock.
func (s *site) setSkew(d time.Duration) { s.mu.Lock(); defer s.mu.Unlock(); s.skew = d }

func (s *site) now() time.Time { s.mu.Lock(); defer s.mu.Unlock(); return time.Now().Add(s.skew) }

// open serves the application with these providers.
func (s *site) open(t *testing.T, providers ...core.Provider) {
	t.Helper()
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: s.URL,
		Providers: providers, Store: s.store, Now: s.now, Plugins: s.plugins,
		Audit: func(_ context.Context, e audit.Event) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.audit = append(s.audit, strings.TrimSpace(fmt.Sprintf("%s %s %s", e.Name, e.Outcome, e.Reason)))
		},
		Logger: slog.New(slog.NewTextHandler(s, nil)), Getenv: func(string) string { return "" },
		Events: core.Events{SignIn: func(_ context.Context, e core.SignInEvent) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.signIns = append(s.signIns, e)
			return nil
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	s.auth = auth
	mux := http.NewServeMux()
	a := authhttp.New(auth)
	a.Mount(mux)
	if len(s.plugins) > 0 {
		vault := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "vault") })
		mux.Handle("/vault", a.Require(core.RecentSignIn(10*time.Minute))(vault))
	}
	mux.HandleFunc("/", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "home") })
	s.Config.Handler = mux
}

// last returns the newest sign-in.
func (s *site) last(t *testing.T) core.SignInEvent {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.signIns) == 0 {
		t.Fatalf("no user has signed in\n%s", s.log.String())
	}
	return s.signIns[len(s.signIns)-1]
}

// visitor is a browser that stores cookies.
type visitor struct {
	*http.Client
	t    *testing.T
	site *site
	// seen are the URLs visited since the last click.
	seen []*url.URL
	// rewrite, if not nil, changes the URL of each redirect, as a user or a script in the browser can.
	rewrite func(u *url.URL)
}

func (s *site) visitor(t *testing.T) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	v := &visitor{t: t, site: s}
	v.Client = &http.Client{Jar: jar, Timeout: time.Minute}
	v.CheckRedirect = func(r *http.Request, _ []*http.Request) error {
		if v.rewrite != nil {
			v.rewrite(r.URL)
		}
		v.seen = append(v.seen, r.URL)
		return nil
	}
	return v
}

// page is the browser's current page.
type page struct {
	url  *url.URL
	body string
	// location is the target of a redirect that was not followed.
	location string
}

// stop is a CheckRedirect function that follows no redirects.
func stop(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

func (v *visitor) arrive(r *http.Response, err error) page {
	v.t.Helper()
	if err != nil {
		v.t.Fatalf("%v\n%s", err, v.site.logged())
	}
	defer func() { _ = r.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(r.Body, 1<<20))
	if err != nil {
		v.t.Fatal(err)
	}
	return page{r.Request.URL, string(body), r.Header.Get("Location")}
}

func (v *visitor) get(target string) page {
	v.t.Helper()
	r, err := v.Get(target)
	return v.arrive(r, err)
}

// click presses a provider's button and follows the redirects.
func (v *visitor) click(provider string) page {
	v.t.Helper()
	return v.submit("/auth/signin/"+provider, url.Values{})
}

// signOut presses the sign-out button, with target as the callback URL.
func (v *visitor) signOut(target string) page {
	v.t.Helper()
	return v.submit("/auth/signout", url.Values{"callbackUrl": {target}})
}

// submit posts a form of the site and follows the redirects.
func (v *visitor) submit(path string, fields url.Values) page {
	v.t.Helper()
	var csrf struct{ CSRFToken string }
	if err := json.Unmarshal([]byte(v.get(v.site.URL+"/auth/csrf").body), &csrf); err != nil {
		v.t.Fatal(err)
	}
	fields.Set("csrfToken", csrf.CSRFToken)
	v.seen = nil
	r, err := v.PostForm(v.site.URL+path, fields)
	return v.arrive(r, err)
}

// pass returns the visited URL with this path.
func (v *visitor) pass(path string) *url.URL {
	v.t.Helper()
	for _, u := range v.seen {
		if u.Path == path {
			return u
		}
	}
	v.t.Fatalf("%s was not visited: %v", path, v.seen)
	return nil
}

// signedIn returns the name of the signed-in user, or "".
func (v *visitor) signedIn() string {
	v.t.Helper()
	var session *struct{ User struct{ Email, Name string } }
	if err := json.Unmarshal([]byte(v.get(v.site.URL+"/auth/session").body), &session); err != nil {
		v.t.Fatal(err)
	}
	if session == nil {
		return ""
	}
	return strings.TrimSpace(session.User.Name + " " + session.User.Email)
}
