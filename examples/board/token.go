package main

import (
	"net/http"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// freshFor is how long ago somebody who makes a token may have proved who they are.
const freshFor = 15 * time.Minute

// tokenPages make tokens for programs.
type tokenPages struct {
	*answers
	auth *core.Auth
	url  string // of the site
}

func (t *tokenPages) get(w http.ResponseWriter, r *http.Request) { t.show(w, r, "") }

// post makes a token for the API: a session beside that of the browser, in no cookie. It stands among the devices
// on the account page, and ends there.
func (t *tokenPages) post(w http.ResponseWriter, r *http.Request) {
	token, err := t.make(r)
	if err != nil {
		t.fail(w, r, err)
		return
	}
	t.show(w, r, token)
}

func (t *tokenPages) show(w http.ResponseWriter, r *http.Request, token string) {
	_, me, err := t.people.From(r.Context())
	if err != nil {
		t.fail(w, r, err)
		return
	}
	show(w, r, http.StatusOK, tokenPage(me, token, t.url))
}

func (t *tokenPages) make(r *http.Request) (string, error) {
	session, err := authhttp.Session(r)
	if err != nil {
		return "", err
	}
	// Without the browser's cookies: the new session takes the place of no other.
	ask := *authhttp.Request(r)
	ask.Header = http.Header{"User-Agent": {"API token"}}
	cookies, err := t.auth.NewSession(r.Context(), &ask, &core.User{
		ID: session.UserID, Name: session.User.Name, Email: session.User.Email,
	})
	if err != nil {
		return "", err
	}
	for _, c := range cookies {
		ask.Header.Add("Cookie", c.Name+"="+c.Value)
	}
	return t.auth.RawToken(r.Context(), &ask)
}
