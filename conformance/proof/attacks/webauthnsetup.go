package main

import (
	"context"
	"encoding/base64"
	"errors"
	"regexp"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authenticator"
)

var (
	deletedKept   = regexp.MustCompile(`^delete (u\d), keep (c\d)$`)
	deletedUser   = regexp.MustCompile(`^delete (u\d|c\d)$`)
	failingMethod = regexp.MustCompile(`^(\w+) (fails|panics|is not found)$`)
	afterCounter  = regexp.MustCompile(`^(?:getAccount|getUser|createSession) `)
)

// prepare creates the payload's initial state. afterOptions is called when the options have arrived.
func (k *keyring) prepare() (afterOptions func()) {
	none := func() {}
	switch setup := k.p.Setup; {
	case setup == "":
	case deletedKept.MatchString(setup):
		m := deletedKept.FindStringSubmatch(setup)
		id := base64.StdEncoding.EncodeToString(k.keys[m[2]].ID)
		kept, err := k.store.Authenticator(k, id)
		k.must(errors.Join(err, k.store.DeleteUser(k, m[1])))
		_ = k.store.CreateAuthenticator(k, kept) // a store with all rows in one place fails here, which is as good
	case deletedUser.MatchString(setup):
		if setup[len("delete ")] == 'u' {
			k.must(k.store.DeleteUser(k, setup[len("delete "):]))
			break
		}
		key := setup[len("delete "):]
		k.keys[key] = authenticator.New(key + " that is gone")
	case failingMethod.MatchString(setup):
		m := failingMethod.FindStringSubmatch(setup)
		return func() { k.store.bring(troubleOf(m[1], m[2])) }
	default:
		k.failf("the setup %q is not known", setup)
	}
	return none
}

// troubleOf makes an operation of the store fail.
func troubleOf(operation, how string) trouble {
	return func(ctx context.Context, asked string, do func(context.Context) error) (bool, error) {
		if asked != operation {
			return false, do(ctx)
		}
		switch how {
		case "panics":
			panic("the store panics")
		case "is not found":
			return false, core.ErrNotFound
		}
		return false, errors.New("connection refused")
	}
}

// replaceCookie replaces the browser's challenge cookie by the payload's.
func (k *keyring) replaceCookie(t *act) {
	other := func(query string) (challenge, cookie string) {
		b := k.browser("")
		challenge, _ = k.options(b, query)
		return challenge, b.cookies[challengeCookie]
	}
	switch k.p.Cookie {
	case "":
	case "none":
		delete(t.b.cookies, challengeCookie)
	case "other":
		_, t.b.cookies[challengeCookie] = other(t.query)
	case "register":
		t.challenge, t.b.cookies[challengeCookie] = other("action=register&email=new%40app.example")
	case "authenticate":
		t.challenge, t.b.cookies[challengeCookie] = other("action=authenticate")
	case "state", "nonce", "verifier":
		t.b.submit("/auth/signin/b")
		t.b.cookies[challengeCookie] = t.b.cookies[checkCookie(k.p.Cookie)]
	case "cut":
		value := t.b.cookies[challengeCookie]
		t.b.cookies[challengeCookie] = value[:len(value)/2]
	case "changed", "flip a bit":
		value := t.b.cookies[challengeCookie]
		t.b.cookies[challengeCookie] = flipped(value, len(value)/2)
	case "garbage":
		t.b.cookies[challengeCookie] = "garbage"
	default:
		k.failf("the cookie %q is not known", k.p.Cookie)
	}
}
