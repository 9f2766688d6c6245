package browser_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/plugins/guest"
	"github.com/latchkey-go/latchkey/providers"
	passwords "github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/providers/webauthn"
	"github.com/latchkey-go/latchkey/storage/memory"
	"github.com/latchkey-go/latchkey/ui/locales"
)

const guestButton = `form[action$="/auth/guest"] button`

// guestShop is an application with guests. Its page shows the user, and /orders needs an account.
type guestShop struct {
	url    string
	mu     sync.Mutex
	merges []string // "guest existing"
}

func (s *guestShop) merged() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.merges, ", ")
}

func serveGuests(t *testing.T) *guestShop {
	t.Helper()
	listener, origin := listen(t)
	s, box, guests := &guestShop{url: origin}, mailbox.New(), guest.New(guest.Options{})
	auth, err := core.New(authtest.Unlimited(core.Config{
		URL: origin, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, Store: memory.New(),
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler), Locales: locales.All(),
		EnableWebAuthn: true, Plugins: []core.Plugin{guests},
		Providers: []core.Provider{
			webauthn.Passkey(), passwords.New(passwords.Options{Mail: box}), providers.Email("no-reply@example.com", box.Send),
		},
		Callbacks: core.Callbacks{Merge: func(_ context.Context, guest, existing *core.User) error {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.merges = append(s.merges, guest.ID+" "+existing.ID)
			return nil
		}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	mux, adapter := http.NewServeMux(), authhttp.New(auth)
	adapter.Mount(mux)
	mux.Handle("/mailbox", box)
	mux.HandleFunc("/favicon.ico", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) })
	shows := func(w http.ResponseWriter, r *http.Request) {
		session, _ := authhttp.Session(r)
		w.Header().Set("Content-Type", "text/html")
		if session == nil {
			_, _ = fmt.Fprint(w, `<!doctype html><title>Shop</title>signed out`)
			return
		}
		_, _ = fmt.Fprintf(w, `<!doctype html><title>Shop</title><p id="user">%s</p><p>guest: %t</p>`, session.UserID,
			guests.IsGuest(session))
	}
	mux.Handle("/", adapter.Hook(http.HandlerFunc(shows)))
	mux.Handle("/orders", adapter.Hook(adapter.Require(guests.NotGuest())(http.HandlerFunc(shows))))
	t.Cleanup(serveHTTP(listener, mux))
	return s
}

// guest presses the button of the sign-in page, and returns the user's ID.
func (v *visitor) guest() string {
	v.Helper()
	v.open("/auth/signin")
	v.follow(click(guestButton))
	return v.isUser(true)
}

// isUser returns the ID of the signed-in user, and checks whether that is a guest.
func (v *visitor) isUser(guest bool) string {
	v.Helper()
	v.arrives("/", fmt.Sprintf("guest: %t", guest))
	return run(v, chromedp.TextContent(chromedp.CSS("#user")))
}

// TestGuest continues as a guest without JavaScript, and signs up with a password or an email link from a page that
// needs an account. The user keeps the ID.
func TestGuest(t *testing.T) {
	s := serveGuests(t)
	for name, signUp := range map[string]func(v *visitor, address string){
		"password": func(v *visitor, address string) {
			form := `form[action$="/password/sign-up"] `
			v.open("/auth/password/sign-up")
			v.do(write(form+"input[name=email]", address), write(form+"input[name=password]", password))
			v.follow(click(form + "button.button"))
			v.sees("Check your email")
			v.letter("verify", address)
			v.follow(click(goOnButton))
		},
		"email link": func(v *visitor, address string) {
			v.do(write(emailField, address))
			v.follow(click(emailButton))
			v.letter("sign-in", address)
			v.sees("Sign in as " + address) // the page asks, because the browser has a session
			v.follow(click(goOnButton))
			v.at("/orders")
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := visit(t, s.url)
			v.open("/auth/signin")
			call(v, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
			v.follow(click(guestButton))
			call(v, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: false})
			v.open("/")
			id := v.isUser(true)
			v.open("/orders")
			v.at("/auth/signin")
			signUp(v, strings.ReplaceAll(name, " ", "-")+"@example.com")
			v.open("/")
			if got := v.isUser(false); got != id {
				t.Errorf("the user is %s, was %s", got, id)
			}
			v.open("/orders")
			v.at("/orders")
		})
	}
	if got := s.merged(); got != "" {
		t.Errorf("merged: %s", got)
	}
}

// TestGuestWithPasskey registers a passkey as a guest, who keeps the ID. Another guest signs in with the passkey, and
// is merged.
func TestGuestWithPasskey(t *testing.T) {
	s := serveGuests(t)
	v := visit(t, s.url)
	authenticator := v.holds()
	id := v.guest()
	v.open("/auth/signin")
	v.do(write(emailField, "key@example.com"))
	v.follow(click(passkeyButton))
	if got := v.isUser(false); got != id {
		t.Fatalf("the user is %s, was %s", got, id)
	}
	v.open("/auth/signout")
	v.follow(click(`form button[type=submit]`))
	v.confirms(authenticator, false) // the sign-in page would sign in without a click
	other := v.guest()
	v.confirms(authenticator, true)
	v.do(leaveFor(v.site + "/auth/signin"))
	if got := v.isUser(false); got != id {
		t.Fatalf("the user is %s, not %s", got, id)
	}
	if got := s.merged(); got != other+" "+id {
		t.Errorf("merged %q, want %q", got, other+" "+id)
	}
}

// TestGuestPages opens the sign-in page without a session and as a guest, in every look.
func TestGuestPages(t *testing.T) {
	s := serveGuests(t)
	for _, row := range everyLook() {
		t.Run(row.tag+" "+row.scheme, func(t *testing.T) {
			v := visit(t, s.url)
			v.looks(row.tag, row.scheme, row.width, row.height)
			check := func(path string) {
				t.Helper()
				v.open(path)
				v.shows(row, path)
			}
			check("/auth/signin")
			check("/auth/signin?error=ChallengeFailed")
			direction := run(v, chromedp.Evaluate[string](`getComputedStyle(document.documentElement).direction`))
			if (direction == "rtl") != (row.tag == "ar") {
				t.Errorf("the direction is %s", direction)
			}
			v.guest()
			check("/orders") // the sign-in page of a guest
			v.at("/auth/signin")
		})
	}
}
