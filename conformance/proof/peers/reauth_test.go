package peers_test

import (
	"maps"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/idp"
	"github.com/latchkey-go/latchkey/providers"
)

// tracking is a plugin that stores in every session when the user authenticated.
type tracking struct{}

func (tracking) Attach(h *core.PluginHost) error { h.TrackAuthentication(); return nil }

// asBrowser adds the Accept header of a browser to requests.
type asBrowser struct{}

// RoundTrip implements [http.RoundTripper].
func (asBrowser) RoundTrip(r *http.Request) (*http.Response, error) {
	own := r.Clone(r.Context())
	if own.URL.Path != "/auth/csrf" && own.URL.Path != "/auth/session" {
		own.Header.Set("Accept", "text/html")
	}
	return http.DefaultTransport.RoundTrip(own)
}

// reauthRow is a re-authentication at a provider with a browser that changes the authorization request.
type reauthRow struct {
	// authTime reports that the provider sends auth_time in every ID token, not only after a request with max_age.
	authTime bool
	later    time.Duration // between the sign-in and the re-authentication
	rewrite  func(q url.Values)
	replay   bool // the response is sent again
	signOut  bool // the browser is signed out of the provider first
	error    string
	audited  string
}

// silently removes what makes the provider authenticate the user: it then uses its own session.
func silently(q url.Values) {
	q.Del("prompt")
	q.Del("max_age")
}

var reauthRows = map[string]reauthRow{
	"honest":               {audited: "reauth ok"},
	"honest, auth_time":    {authTime: true, audited: "reauth ok"},
	"silent, no auth_time": {rewrite: silently, error: "StaleSignIn", audited: "reauth refused stale"},
	"silent, old auth_time": {
		authTime: true, later: 30 * time.Minute, rewrite: silently, error: "StaleSignIn", audited: "reauth refused stale",
	},
	"only prompt removed": {rewrite: func(q url.Values) { q.Del("prompt") }, audited: "reauth ok"}, // max_age=0 is left
	"another user": {
		rewrite: func(q url.Values) { q.Set("login_hint", "bob") }, signOut: true,
		error: "OtherUser", audited: "reauth refused other_user",
	},
	"replayed": {replay: true, error: "StaleSignIn", audited: "reauth refused replayed"},
}

// TestReauthentication authenticates a signed-in user again at npm's oidc-provider. It counts if and only if the
// provider has authenticated the same user for this request; refusals are audited, and the session does not change.
func TestReauthentication(t *testing.T) {
	for name, row := range reauthRows {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.plugins = []core.Plugin{tracking{}}
			s.open(t, ours(oidcProvider(t, s, true, client{"require_auth_time": row.authTime})))
			v := s.visitor(t)
			v.Transport = asBrowser{}
			if at := v.click("op"); at.body != "home" || v.signedIn() != ada {
				t.Fatalf("ended at %s\n%s", at.url, s.logged())
			}
			v.submit("/auth/signout", url.Values{})
			v.click("op") // through the provider's session: no recent sign-in without a new auth_time
			s.setSkew(row.later)
			if at := v.get(s.URL + "/vault"); (at.body == "vault") != (row.authTime && row.later == 0) {
				t.Fatalf("after a silent sign-in: %s", at.url)
			}
			checkReauthentication(t, s, v, row)
		})
	}
}

func checkReauthentication(t *testing.T, s *site, v *visitor, row reauthRow) {
	t.Helper()
	session := func() string {
		for _, c := range v.Jar.Cookies(mustURL(t, s.URL)) {
			if strings.HasSuffix(c.Name, "session-token") {
				return c.Value
			}
		}
		return ""
	}
	before, issuedBefore := session(), len(s.audit)
	var kept []*http.Cookie
	rewrite := rewriting(row.rewrite)
	v.rewrite = func(u *url.URL) {
		if rewrite(u); u.Path == "/auth/callback/op" {
			kept = v.Jar.Cookies(u)
		}
	}
	if row.signOut {
		v.Jar.SetCookies(mustURL(t, s.URL), []*http.Cookie{{Name: "_session", Path: "/", MaxAge: -1}})
	}
	at := v.submit("/auth/reauth/op?callbackUrl=/vault", url.Values{})
	v.rewrite = nil
	if row.replay {
		if at.body != "vault" {
			t.Fatalf("ended at %s\n%s", at.url, s.logged())
		}
		before = session()
		cookies := map[string]*http.Cookie{} // those of the flow, with the session of now
		for _, c := range slices.Concat(kept, v.Jar.Cookies(mustURL(t, s.URL))) {
			cookies[c.Name] = c
		}
		var err error
		if v.Jar, err = cookiejar.New(nil); err != nil {
			t.Fatal(err)
		}
		v.Jar.SetCookies(mustURL(t, s.URL), slices.Collect(maps.Values(cookies)))
		at = v.get(v.pass("/auth/callback/op").String())
	}
	if row.error == "" {
		if at.body != "vault" || session() == before || v.signedIn() != ada {
			t.Errorf("ended at %s, a new token: %t\n%s", at.url, session() != before, s.logged())
		}
	} else if got := at.url.Query().Get("error"); got != row.error || session() != before || v.signedIn() != ada {
		t.Errorf("ended at %s, a new token: %t\n%s", at.url, session() != before, s.logged())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if told := s.audit[issuedBefore:]; !slices.ContainsFunc(told, func(e string) bool {
		return strings.HasPrefix(e, row.audited)
	}) {
		t.Errorf("audited: %q", told)
	}
}

// rewriting returns a function that changes authorization requests.
func rewriting(change func(q url.Values)) func(u *url.URL) {
	return func(u *url.URL) {
		if q := u.Query(); change != nil && q.Get("client_id") != "" {
			change(q)
			u.RawQuery = q.Encode()
		}
	}
}

func mustURL(t *testing.T, text string) *url.URL {
	t.Helper()
	u, err := url.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

var pickForm = regexp.MustCompile(`action="([^"]+/authorize/[^"]+)"`)

// TestReauthenticationAtDevelopmentProvider does the same at the development provider, whose page picks the user.
func TestReauthenticationAtDevelopmentProvider(t *testing.T) {
	for name, row := range map[string]struct {
		pick     string
		authTime any // the claim auth_time: "" for that of the provider, nil for none
		rewrite  func(q url.Values)
		audited  string
		opens    bool
	}{
		"honest":            {"ada@example.com", "", nil, "reauth ok", true},
		"another user":      {"grace@example.com", "", nil, "reauth refused other_user", false},
		"missing auth_time": {"ada@example.com", nil, nil, "reauth refused stale", false},
		"old auth_time":     {"ada@example.com", 1893456, nil, "reauth refused stale", false},
		"silent": {"", "", func(q url.Values) {
			q.Set("prompt", "none")
			q.Del("max_age")
		}, "reauth refused stale", false},
		"silent, max_age": {"", "", func(q url.Values) { q.Set("prompt", "none") }, "reauth refused", false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t)
			s.plugins = []core.Plugin{tracking{}}
			user := idp.User{Name: "Ada Lovelace", Email: "ada@example.com", Claims: map[string]any{}}
			if row.authTime != "" {
				user.Claims["auth_time"] = row.authTime
			}
			provider, err := idp.Start(idp.Options{
				RedirectURIs: []string{s.URL + "/auth/callback/dev"},
				Users:        []idp.User{user, {Name: "Grace Hopper", Email: "grace@example.com"}},
			})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = provider.Close() })
			s.open(t, providers.OIDC("dev", provider.Issuer(), providers.Options{
				ClientID: provider.ClientID(), ClientSecret: core.Secret(provider.ClientSecret()),
			}))
			v := s.visitor(t)
			v.Transport = asBrowser{}
			pick := func(at page, email string) page {
				t.Helper()
				form := pickForm.FindStringSubmatch(at.body)
				if form == nil {
					return at
				}
				r, err := v.PostForm(form[1], url.Values{"user": {email}})
				return v.arrive(r, err)
			}
			pick(v.click("dev"), "ada@example.com")
			if who := v.signedIn(); who != ada {
				t.Fatalf("signed in as %q\n%s", who, s.logged())
			}
			if !row.opens {
				s.setSkew(2 * time.Minute)
			}
			v.rewrite = rewriting(row.rewrite)
			at := pick(v.submit("/auth/reauth/dev?callbackUrl=/vault", url.Values{}), row.pick)
			if (at.body == "vault") != row.opens || v.signedIn() != ada {
				t.Errorf("ended at %s, signed in as %q\n%s", at.url, v.signedIn(), s.logged())
			}
			s.mu.Lock()
			defer s.mu.Unlock()
			if !slices.ContainsFunc(s.audit, func(e string) bool { return strings.HasPrefix(e, row.audited) }) {
				t.Errorf("audited: %q", s.audit)
			}
		})
	}
}
