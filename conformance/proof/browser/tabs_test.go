package browser_test

import (
	"fmt"
	"html"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// choosing is a provider with a page on which the user chooses an account. It accepts each code once.
func choosing() http.HandlerFunc {
	used := map[string]bool{}
	number := 0
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		who := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		switch r.URL.Path {
		case "/token":
			code := r.PostFormValue("code")
			if used[code] {
				w.WriteHeader(http.StatusBadRequest)
				_, _ = io.WriteString(w, `{"error":"invalid_grant"}`)
				return
			}
			used[code] = true
			who, _, _ = strings.Cut(code, ".")
			_, _ = fmt.Fprintf(w, `{"access_token":%q,"token_type":"bearer"}`, who)
		case "/user":
			_, _ = fmt.Fprintf(w, `{"id":%q,"name":%q,"email":%q}`, who, who, who+"@example.com")
		default:
			w.Header().Set("Content-Type", "text/html")
			q := r.URL.Query()
			method := "get"
			if q.Get("response_mode") == "form_post" {
				method = "post"
			}
			_, _ = io.WriteString(w, "<!doctype html><link rel=icon href=data:,>Choose an account")
			for _, who := range []string{"ann", "bob"} {
				number++
				_, _ = fmt.Fprintf(w, `<form method=%s action="%s"><input type=hidden name=code value="%s.%d">`+
					`<input type=hidden name=state value="%s"><button id=%s>%s</button></form>`, method,
					html.EscapeString(q.Get("redirect_uri")), who, number, html.EscapeString(q.Get("state")), who, who)
			}
		}
	}
}

// TestTabs signs in from several tabs of one browser in different orders, with providers that use query and form_post
// callbacks. Each tab continues at its own page. A tab that would switch to another user asks first. After a reload or
// the back button the flow continues.
func TestTabs(t *testing.T) {
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		site := tabbed(t, strategy)
		for _, row := range []struct {
			name      string
			providers []string
			order     []int
		}{
			{"two, oldest first", []string{"query", "query"}, []int{0, 1}},
			{"two, newest first", []string{"query", "query"}, []int{1, 0}},
			{"form_post, oldest first", []string{"post", "post"}, []int{0, 1}},
			{"form_post and query", []string{"post", "query", "post"}, []int{1, 2, 0}},
			{"four, from the middle", []string{"query", "post", "query", "post"}, []int{2, 0, 3, 1}},
		} {
			t.Run(string(strategy)+", "+row.name, func(t *testing.T) {
				first := visit(t, site)
				for _, id := range []string{"query", "post"} { // Ann has an account at both
					first.start(id, "/page-9")
					first.follow(click("#ann"))
					first.arrives("/page-9", "page 9")
				}
				first.open("/auth/signout")
				first.follow(click("#submitButton"))
				tabs := []*visitor{first}
				for range len(row.providers) - 1 {
					tabs = append(tabs, first.tab())
				}
				for i, id := range row.providers {
					tabs[i].start(id, fmt.Sprintf("/page-%d", i))
				}
				for _, i := range row.order {
					tabs[i].follow(click("#ann"))
					tabs[i].arrives(fmt.Sprintf("/page-%d", i), fmt.Sprintf("page %d", i))
					if got := tabs[i].json("/auth/session"); !strings.Contains(got, "ann@example.com") {
						t.Errorf("tab %d is signed in as %s", i, got)
					}
				}
			})
		}
		t.Run(string(strategy)+", another user, and the back button", func(t *testing.T) {
			first := visit(t, site)
			second := first.tab()
			first.start("query", "/page-1")
			second.start("query", "/page-2")
			first.follow(click("#ann"))
			first.arrives("/page-1", "page 1")
			second.follow(click("#bob"))
			second.sees("You're already signed in")
			second.sees("ann@example.com")
			second.follow(click("form button"))
			second.follow(click("#bob"))
			second.arrives("/page-2", "page 2")
			if got := second.json("/auth/session"); !strings.Contains(got, "bob@example.com") {
				t.Errorf("signed in as %s", got)
			}
			first.follow(goTo("javascript:history.back()")) // to the provider's page, where the code was already used
			first.follow(click("#ann"))
			first.arrives("/page-2", "page 2") // the first flow's callback URL is no longer stored
		})
	}
}

// start starts a sign-in on the sign-in page and stops at the provider's page.
func (v *visitor) start(provider, page string) {
	v.Helper()
	v.open("/auth/signin?prompt=login&callbackUrl=" + url.QueryEscape(page))
	v.follow(click(`form[action$="/signin/` + provider + `"] button`))
	v.sees("Choose an account")
}

// tabbed serves an application with two providers on the service, and returns its address.
func tabbed(t *testing.T, strategy core.Strategy) string {
	t.Helper()
	service := httptest.NewServer(choosing())
	t.Cleanup(service.Close)
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	provider := func(id string, params url.Values) *core.OAuthProvider {
		return &core.OAuthProvider{
			ID: id, Name: id, Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
			AllowDangerousEmailAccountLinking: true, EmailVerified: func(core.Profile) bool { return true },
			Authorization: core.Endpoint{URL: service.URL + "/authorize", Params: params},
			Token:         core.Endpoint{URL: service.URL + "/token"}, Userinfo: core.Endpoint{URL: service.URL + "/user"},
		}
	}
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "http://localhost:" + port,
		Store: memory.New(), Session: core.SessionConfig{Strategy: strategy}, Getenv: func(string) string { return "" },
		Providers: []core.Provider{
			provider("query", nil), provider("post", url.Values{"response_mode": {"form_post"}}),
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	authhttp.New(auth).Mount(mux)
	pages := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n, there := strings.CutPrefix(r.URL.Path, "/page-")
		if !there {
			mux.ServeHTTP(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, "<!doctype html><link rel=icon href=data:,>page %s", html.EscapeString(n))
	})
	application := httptest.NewUnstartedServer(pages)
	_ = application.Listener.Close()
	application.Listener = listener
	application.Start()
	t.Cleanup(application.Close)
	return "http://localhost:" + port
}
