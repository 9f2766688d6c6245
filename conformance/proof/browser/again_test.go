package browser_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// againButton continues with the change that was requested before the re-authentication.
const againButton = `#again button`

// TestAgain: a change that needs a more recent sign-in redirects to the page reauth and then shows one button. The
// change happens when the button is pressed, with and without JavaScript.
func TestAgain(t *testing.T) {
	for name, script := range map[string]bool{"with JavaScript": true, "without JavaScript": false} {
		t.Run(name, func(t *testing.T) {
			site := serveLate(t)
			v := visit(t, site.url)
			if !script {
				v.scriptless()
			}
			v.do(chromedp.Navigate(site.url + "/auth/signin?callbackUrl=/auth/account"))
			site.signIn(v)
			v.do(chromedp.WaitVisible(chromedp.CSS(emailOpens)))
			site.late.Store(true)
			v.do(click(emailOpens), write(newAddress, "new-again@example.com"))
			v.follow(click(changeButton))
			const form = `form[action*="/auth/reauth/password"] `
			v.do(write(form+`input[name=password]`, password)) // the page fills in the address
			v.follow(click(form + `#submitButton`))
			v.do(chromedp.WaitVisible(chromedp.CSS(againButton)))
			if n := len(site.mails.Mails()); n != 0 {
				t.Errorf("%d emails before the button", n)
			}
			v.follow(click(againButton))
			v.do(chromedp.WaitVisible(chromedp.CSS(".notice")), chromedp.WaitNotPresent(chromedp.CSS(againButton)))
			if all := site.mails.Mails(); len(all) != 1 || all[0].To != "new-again@example.com" {
				t.Errorf("the emails are %v", all)
			}
			v.do(chromedp.Navigate(site.url+"/auth/account"), chromedp.WaitVisible(chromedp.CSS(emailOpens)),
				chromedp.WaitNotPresent(chromedp.CSS(againButton)))
		})
	}
}

// lateSite is an application with an account page, on which a test can make a sign-in too old for changes.
type lateSite struct {
	url   string
	mails *mailbox.Mailbox
	late  atomic.Bool
}

func serveLate(t *testing.T) *lateSite {
	t.Helper()
	listener, origin := listen(t)
	s, store := &lateSite{url: origin, mails: mailbox.New()}, memory.New()
	user, err := store.CreateUser(t.Context(), &core.User{ID: "lovell", Email: lovell, EmailVerified: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	passwords := providers.Credentials(func(context.Context, map[string]string, *core.Request) (*core.User, error) {
		return user, nil
	})
	passwords.ID = "password"
	auth, err := core.New(core.Config{
		URL: origin, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Now: s.now,
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.NewTextHandler(t.Output(), nil)),
		Store: store, Session: core.SessionConfig{Strategy: core.StrategyDatabase},
		Providers: []core.Provider{passwords},
		Plugins:   []core.Plugin{account.New(account.Options{Mail: s.mails})},
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	authhttp.New(auth).Mount(mux)
	mux.HandleFunc("GET /favicon.ico", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "image/svg+xml")
		_, _ = io.WriteString(w, `<svg xmlns="http://www.w3.org/2000/svg"/>`)
	})
	t.Cleanup(serveHTTP(listener, mux))
	return s
}

// now returns the current time, or an hour later: too late for a change, but before the session expires.
func (s *lateSite) now() time.Time {
	if s.late.Load() {
		return time.Now().Add(time.Hour)
	}
	return time.Now()
}

func (s *lateSite) signIn(v *visitor) {
	v.Helper()
	v.do(write(userField, lovell), write(passwordField, password))
	v.follow(click(passButton))
}
