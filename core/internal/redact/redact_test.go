package redact_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/redact"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/panics"
)

func TestOf(t *testing.T) {
	t.Parallel()
	const secret = "a secret/with+signs"
	cause := errors.New("short: abc, " + secret + ", " + url.QueryEscape(secret) + ", " + url.PathEscape(secret))
	e := redact.Of(cause, secret, "abc", "")
	hidden := store.Secret(secret).String()
	if want := "short: abc, " + hidden + ", " + hidden + ", " + hidden; e.Error() != want {
		t.Error(e.Error())
	}
	if !errors.Is(&e, cause) {
		t.Error("the original error is lost")
	}
}

func TestLink(t *testing.T) {
	t.Parallel()
	const link = "https://app.example/auth/callback/mail?token=0123456789&email=ada%40app.example"
	e := redact.Link(errors.New("post "+link+": token 0123456789 of ada@app.example"), link, "ada@app.example")
	if text := e.Error(); strings.Contains(text, "0123456789") || !strings.HasSuffix(text, "of ada@app.example") {
		t.Error(text)
	}
	panicked := panics.New("Send", "a part of the link: 01234")
	if e := redact.Link(panicked, link, ""); strings.Contains(e.Error(), "01234") {
		t.Error(e.Error())
	}
}
