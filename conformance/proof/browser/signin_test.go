package browser_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// examples are the folders of the example applications.
var examples = []string{"stdlib", "gin", "echo", "fiber"}

// sessionPaths return the session: Latchkey's own action, and a handler of the application behind the hook.
var sessionPaths = []string{"/auth/session", "/api/session"}

// Selectors of the sign-in page.
const (
	devButton     = `form[action$="/signin/dev"] button`
	emailField    = userField // one address field for all sign-in methods
	emailButton   = `button[formaction$="/signin/email"]`
	userField     = `form[action$="/callback/password"] input[name=email]`
	passwordField = `form[action$="/callback/password"] input[name=password]`
	passButton    = `form[action$="/callback/password"] #submitButton`
	signOutButton = `button.latchkey-signout`
)

// ways are the three sign-in methods. Each starts on the sign-in page and ends at the callback URL.
var ways = []struct {
	name   string
	signIn func(*visitor)
	// The name and email of the signed-in user. A sign-in by email sets no name.
	userName, email string
}{
	{"development provider", byProvider, "Zoë Example", "zoe@example.com"},
	{"credentials", byCredentials, "Demo User", "demo@example.com"},
	{"e-mail", byMail, "", "mail@example.com"},
}

func byProvider(v *visitor) {
	v.Helper()
	v.follow(click(devButton))
	v.sees("Who are you?")
	v.do(write("#name", "Zoë Example"), write("#email", "zoe@example.com"))
	v.follow(click("button.go"))
}

func byCredentials(v *visitor) {
	v.Helper()
	v.do(write(userField, "demo@example.com"), write(passwordField, "demo"))
	v.follow(click(passButton))
}

func byMail(v *visitor) {
	v.Helper()
	v.do(write(emailField, "Mail@Example.com"))
	v.follow(click(emailButton))
	v.at("/auth/verify-request")
	v.sees("Check your email")
	v.letter("sign-in", "mail@example.com")
}

func TestSignIn(t *testing.T) {
	for _, example := range examples {
		t.Run(example, func(t *testing.T) {
			site := start(t, example)
			for _, way := range ways {
				t.Run(way.name, func(t *testing.T) {
					greeting := "Hello, " + way.userName
					if way.userName == "" {
						greeting = "Hello, " + way.email
					}
					v := visit(t, site)

					v.open("/")
					v.sees("Welcome")
					v.follow(click("nav a.latchkey-signin"))
					v.at("/auth/signin")
					way.signIn(v)
					v.at("/")
					v.sees(greeting)
					v.follow(chromedp.Reload())
					v.sees(greeting)

					v.open("/account")
					v.at("/account")
					v.sees(way.email)
					for _, path := range sessionPaths {
						v.signedIn(path, way.userName, way.email)
					}

					v.open("/account")
					v.follow(click(signOutButton))
					v.at("/")
					v.sees("Welcome")
					v.open("/account")
					v.at("/auth/signin")
					v.signedOut()
				})
			}
		})
	}
}

// signedIn checks the user in the session JSON at path.
func (v *visitor) signedIn(path, name, email string) {
	v.Helper()
	var session struct {
		User struct {
			Name  string `json:"name"`
			Email string `json:"email"`
		} `json:"user"`
		Expires time.Time `json:"expires"`
	}
	text := v.json(path)
	if err := json.Unmarshal([]byte(text), &session); err != nil {
		v.Fatalf("%s: %v: %s", path, err, text)
	}
	if session.User.Name != name || session.User.Email != email || !session.Expires.After(time.Now()) {
		v.Errorf("%s: %s", path, text)
	}
}
