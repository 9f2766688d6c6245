package browser_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/a-h/templ"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/fedcm"
	"github.com/chromedp/chromedp"
	"golang.org/x/oauth2"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/idp"
	"github.com/latchkey-go/latchkey/plugins/onetap"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/storage/memory"
	"github.com/latchkey-go/latchkey/ui"
)

// tapService is a stand-in for Google Identity Services on another origin. Its library loads a stylesheet, sends a
// request to the origin, and shows the prompt in a frame. It gets ID tokens from the development provider.
type tapService struct {
	provider *idp.Server
	url      string
	client   oauth2.Config

	mu       sync.Mutex
	referers map[string]string
}

func newTapService(t *testing.T) *tapService {
	t.Helper()
	s := &tapService{referers: map[string]string{}}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	s.url = strings.Replace(server.URL, "127.0.0.1", "localhost", 1)
	var err error
	if s.provider, err = idp.Start(idp.Options{RedirectURIs: []string{s.url + "/back"}, AutoSignIn: ada}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.provider.Close() })
	issuer := s.provider.Issuer()
	s.client = oauth2.Config{
		ClientID: s.provider.ClientID(), ClientSecret: s.provider.ClientSecret(), RedirectURL: s.url + "/back",
		Endpoint: oauth2.Endpoint{AuthURL: issuer + "/authorize", TokenURL: issuer + "/token"},
		Scopes:   []string{"openid", "profile", "email"},
	}
	return s
}

// idToken returns an ID token of the client with a nonce.
func (s *tapService) idToken(ctx context.Context, nonce string) (string, error) {
	verifier := oauth2.GenerateVerifier()
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	at := s.client.AuthCodeURL("s", oauth2.S256ChallengeOption(verifier), oauth2.SetAuthURLParam("nonce", nonce))
	for range 5 {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, at, nil)
		if err != nil {
			return "", err
		}
		r, err := client.Do(request)
		if err != nil {
			return "", err
		}
		_ = r.Body.Close()
		next, err := r.Location()
		if err != nil {
			return "", fmt.Errorf("status %d: %w", r.StatusCode, err)
		}
		if code := next.Query().Get("code"); code != "" {
			token, err := s.client.Exchange(ctx, code, oauth2.VerifierOption(verifier))
			if err != nil {
				return "", err
			}
			text, _ := token.Extra("id_token").(string)
			return text, nil
		}
		at = next.String()
	}
	return "", errors.New("too many redirects")
}

const tapLibrary = `const from = new URL(".", document.currentScript.src).href;
window.google = {accounts: {id: {
	initialize(options) { this.options = options; },
	async prompt() {
		const {client_id, nonce, callback, use_fedcm_for_prompt, itp_support, auto_select} = this.options;
		if (!use_fedcm_for_prompt || !itp_support || auto_select) throw Error("the options");
		const link = document.createElement("link");
		link.rel = "stylesheet"; link.href = from + "style";
		document.head.append(link);
		if (!(await fetch(from + "status?client_id=" + client_id)).ok) throw Error("the status");
		const frame = document.createElement("iframe");
		frame.title = "Sign in with Google";
		frame.id = "credential_picker";
		frame.src = from + "select?nonce=" + nonce;
		document.body.append(frame);
		addEventListener("message", (event) => {
			if (event.source !== frame.contentWindow) return;
			frame.remove();
			if (event.data) callback({credential: event.data, select_by: "user"});
		});
	},
}}};`

// tapRemoved removes the prompt of tapLibrary.
const tapRemoved = `document.querySelectorAll("#credential_picker, link[href*='/gsi/']").forEach((e) => e.remove())`

func (s *tapService) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	s.referers[r.URL.Path] = r.Header.Get("Referer")
	s.mu.Unlock()
	w.Header().Set("Access-Control-Allow-Origin", "*")
	switch r.URL.Path {
	case "/gsi/client":
		w.Header().Set("Content-Type", "text/javascript")
		_, _ = fmt.Fprint(w, tapLibrary)
	case "/gsi/style":
		w.Header().Set("Content-Type", "text/css")
		_, _ = fmt.Fprint(w, "#credential_picker{position:fixed;inset-block-start:0;inset-inline-end:0}")
	case "/gsi/status":
	case "/gsi/select":
		token, err := s.idToken(r.Context(), r.FormValue("nonce"))
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		w.Header().Set("Content-Type", "text/html")
		_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Sign in</title><body>
<button id="tap">Continue as Ada</button><button id="close">Close</button><script>
tap.onclick = () => parent.postMessage(%q, "*"); close.onclick = () => parent.postMessage("", "*");
if (new URLSearchParams(location.search).has("auto")) tap.click();
</script>`, token)
	default:
		s.serveFedCM(w, r)
	}
}

// serveFedCM has the endpoints of an identity provider (FedCM section 4). The browser sends the header Sec-Fetch-Dest
// with them.
func (s *tapService) serveFedCM(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	var answer any
	switch r.URL.Path {
	case "/.well-known/web-identity":
		answer = map[string]any{
			"provider_urls": []string{s.url + "/fedcm.json"}, "accounts_endpoint": "/fedcm/accounts",
			"login_url": "/fedcm/login",
		}
	case "/fedcm.json":
		answer = map[string]any{
			"accounts_endpoint": "/fedcm/accounts", "id_assertion_endpoint": "/fedcm/assertion",
			"login_url": "/fedcm/login",
		}
	case "/fedcm/accounts":
		answer = map[string]any{"accounts": []any{map[string]any{"id": "1", "name": "Ada", "email": ada}}}
	case "/fedcm/assertion":
		nonce := r.FormValue("nonce")
		var params struct{ Nonce string }
		if json.Unmarshal([]byte(r.FormValue("params")), &params) == nil && params.Nonce != "" {
			nonce = params.Nonce
		}
		token, err := s.idToken(r.Context(), nonce)
		if err != nil || r.Header.Get("Sec-Fetch-Dest") != "webidentity" {
			http.Error(w, fmt.Sprint(err), http.StatusForbidden)
			return
		}
		w.Header().Set("Access-Control-Allow-Origin", r.Header.Get("Origin"))
		w.Header().Set("Access-Control-Allow-Credentials", "true")
		answer = map[string]string{"token": token}
	case "/fedcm/login":
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Set-Login", "logged-in")
		w.Header().Add("Set-Cookie", "account=1; SameSite=None; Secure")
		_, _ = fmt.Fprint(w, "<!doctype html><title>Provider</title>logged in")
		return
	default:
		http.NotFound(w, r)
		return
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// serveTaps serves an application with the prompt on the built-in sign-in page, and at /own on its own page.
func serveTaps(t *testing.T, s *tapService, options onetap.Options) (origin string) {
	t.Helper()
	listener, origin := listen(t)
	options.Provider = "dev"
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: origin, Store: memory.New(),
		Getenv: func(string) string { return "" }, Session: core.SessionConfig{Strategy: core.StrategyDatabase},
		Providers: []core.Provider{providers.OIDC("dev", s.provider.Issuer(), providers.Options{
			ClientID: s.provider.ClientID(), ClientSecret: core.Secret(s.provider.ClientSecret()),
		})},
		Plugins: []core.Plugin{onetap.New(options)},
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
		ctx := r.Context()
		if r.URL.Path == "/own" {
			folder := s.url + "/gsi/"
			w.Header().Set("Content-Security-Policy", "default-src 'none'; script-src 'nonce-abc'; connect-src 'self' "+
				folder+"; frame-src "+folder+"; style-src "+folder+"style")
			ctx = templ.WithNonce(ctx, "abc")
		}
		var page strings.Builder
		if r.URL.Path == "/own" {
			if err := ui.OneTap().Render(ctx, &page); err != nil {
				t.Error(err)
			}
		}
		email := ""
		if session != nil {
			email = session.User.Email
		}
		_, _ = fmt.Fprintf(w, `<!doctype html><html lang="en"><title>Home</title>signed in: %s%s`, email, page.String())
	})))
	t.Cleanup(serveHTTP(listener, mux))
	return origin
}

// TestOneTap signs in with the prompt of the stand-in on both pages. Nothing is reported by the browser, so the policy
// permits what the library needs. A dismissed prompt leaves the page, and without JavaScript there is none.
func TestOneTap(t *testing.T) {
	service := newTapService(t)
	site := serveTaps(t, service, onetap.Options{Library: service.url + "/gsi/client"})
	for path, home := range map[string]string{"/auth/signin?callbackUrl=/cart": "/cart", "/own": "/own"} {
		t.Run(path, func(t *testing.T) {
			v := visit(t, site)
			v.open(path)
			v.do(chromedp.WaitVisible("#credential_picker"))
			v.follow(chromedp.Evaluate[chromedp.Void](
				`{const frame = document.querySelector("#credential_picker"); frame.src += "&auto"}`))
			v.sees("signed in: " + ada)
			v.at(home)
			v.open("/own")
			v.sees("signed in: " + ada)
			if run(v, chromedp.Evaluate[bool](`!!document.querySelector("form")`)) {
				t.Error("a signed-in user gets the prompt")
			}
		})
	}
	service.mu.Lock()
	if got := service.referers["/gsi/client"]; got != site+"/" {
		t.Errorf("the library is requested with the referrer %q", got)
	}
	service.mu.Unlock()
	t.Run("dismissed", func(t *testing.T) {
		v := visit(t, site)
		v.open("/auth/signin")
		v.do(chromedp.WaitVisible("#credential_picker"), chromedp.Evaluate[chromedp.Void](tapRemoved))
		v.accessible("the sign-in page with a prompt")
		v.sees("Sign in with dev")
		if got := strings.TrimSpace(v.json("/auth/session")); got != "null" {
			t.Errorf("the session is %s", got)
		}
	})
	t.Run("without JavaScript", func(t *testing.T) {
		v := visit(t, site)
		v.scriptless()
		v.open("/auth/signin")
		v.sees("Sign in with dev")
	})
}

// TestFedCM signs in with the prompt of the browser itself, and dismisses one.
func TestFedCM(t *testing.T) {
	service := newTapService(t)
	site := serveTaps(t, service, onetap.Options{ConfigURL: service.url + "/fedcm.json"})
	for _, taps := range []bool{true, false} {
		t.Run(fmt.Sprint(taps), func(t *testing.T) {
			v := visit(t, site)
			v.follow(goTo(service.url + "/fedcm/login"))
			shown := make(chan *fedcm.EventDialogShown, 1)
			err := chromedp.Listen(v.ctx, func(event any) {
				if dialog, ok := event.(*fedcm.EventDialogShown); ok {
					shown <- dialog
				}
			})
			if err != nil {
				t.Fatal(err)
			}
			call(v, fedcm.Enable, fedcm.EnableParams{DisableRejectionDelay: new(true)})
			v.open("/auth/signin?callbackUrl=/cart")
			var dialog *fedcm.EventDialogShown
			select {
			case dialog = <-shown:
			case <-time.After(wait):
				t.Fatal("the browser shows no prompt")
			}
			if len(dialog.Accounts) != 1 || dialog.Accounts[0].Email != ada {
				t.Errorf("the prompt has %d accounts", len(dialog.Accounts))
			}
			if !taps {
				call(v, fedcm.DismissDialog, fedcm.DismissDialogParams{DialogID: dialog.DialogID})
				v.sees("Sign in with dev")
				if said := <-v.complaints; !strings.Contains(said, "Prompt dismissed") {
					t.Errorf("the browser says %s", said)
				}
				return
			}
			v.follow(chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
				first := fedcm.SelectAccountParams{DialogID: dialog.DialogID}
				_, err := cdp.Call(ctx, target, fedcm.SelectAccount, first)
				return err
			}))
			v.sees("signed in: " + ada)
			v.at("/cart")
		})
	}
}
