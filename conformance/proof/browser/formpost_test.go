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

// posting is a provider on another site than the application: at 127.0.0.1, while the application is at localhost. Its
// user is always signed in there. It responds as requested, with a redirect or with a form that posts itself.
func posting(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	who := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	switch q := r.URL.Query(); {
	case r.URL.Path == "/token":
		_, _ = fmt.Fprintf(w, `{"access_token":%q,"token_type":"bearer"}`, r.PostFormValue("code"))
	case r.URL.Path == "/user":
		_, _ = fmt.Fprintf(w, `{"id":%q,"name":%q,"email":%q}`, who, who, who+"@example.com")
	case q.Get("response_mode") == "form_post":
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<link rel=icon href=data:,><form method=post action="%s">`+
			`<input name=code value=ann-at-post><input name=state value="%s"></form>`+
			`<script>document.forms[0].submit()</script>`,
			html.EscapeString(q.Get("redirect_uri")), html.EscapeString(q.Get("state")))
	default:
		answer := url.Values{"code": {"ann"}, "state": {q.Get("state")}}
		http.Redirect(w, r, q.Get("redirect_uri")+"?"+answer.Encode(), http.StatusFound)
	}
}

// TestFormPost: the callback is a POST from another site, which browsers send without Lax cookies. A signed-in user
// links the account and stays signed in as the same user. Every flow ends at its callback URL.
func TestFormPost(t *testing.T) {
	service := httptest.NewServer(http.HandlerFunc(posting))
	defer service.Close()
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
			Checks:        []core.Check{core.CheckNonce, core.CheckState},
			Authorization: core.Endpoint{URL: service.URL + "/authorize", Params: params},
			Token:         core.Endpoint{URL: service.URL + "/token"}, Userinfo: core.Endpoint{URL: service.URL + "/user"},
		}
	}
	for _, strategy := range []core.Strategy{core.StrategyDatabase, core.StrategyJWT} {
		store := memory.New()
		auth, err := core.New(core.Config{
			Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "http://localhost:" + port,
			Store: store, Session: core.SessionConfig{Strategy: strategy}, Getenv: func(string) string { return "" },
			Providers: []core.Provider{
				provider("plain", nil), provider("post", url.Values{"response_mode": {"form_post"}}),
			},
		})
		if err != nil {
			t.Fatal(err)
		}
		mux := http.NewServeMux()
		authhttp.New(auth).Mount(mux)
		mux.HandleFunc("/orders", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			_, _ = io.WriteString(w, "<!doctype html>your orders")
		})
		mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
		application := httptest.NewUnstartedServer(mux)
		_ = application.Listener.Close()
		if application.Listener = listener; listener == nil {
			if application.Listener, err = (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:"+port); err != nil {
				t.Fatal(err)
			}
		}
		listener = nil
		application.Start()
		for _, row := range []struct {
			name     string
			signedIn bool
			who      string
		}{
			{"signed in", true, "ann@example.com"},
			{"nobody", false, ""},
		} {
			t.Run(string(strategy)+", "+row.name, func(t *testing.T) {
				v := visit(t, "http://localhost:"+port)
				if row.signedIn {
					v.open("/auth/signin?callbackUrl=/orders")
					v.follow(click(`form[action$="/signin/plain"] button`))
					v.arrives("/orders", "your orders")
				}
				v.open("/auth/signin?prompt=login&callbackUrl=/orders")
				v.do(click(`form[action$="/signin/post"] button`))
				v.arrives("/orders", "your orders")
				account, err := store.UserByAccount(t.Context(), "post", "ann-at-post")
				if err != nil {
					t.Fatal(err)
				}
				if row.signedIn && account.Email != row.who {
					t.Errorf("the account belongs to %s", account.Email)
				}
				if got := v.json("/auth/session"); !strings.Contains(got, account.Email) {
					t.Errorf("signed in: %s", got)
				}
			})
		}
		application.Close()
	}
}
