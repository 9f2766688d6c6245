// Package redact hides secrets in the texts of errors. They can be in it because a URL, or the error of a callback,
// provider or transport, contains them.
package redact

import (
	"errors"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/panics"
)

// Redacted is an error whose text omits secrets.
type Redacted struct {
	Err     error
	Secrets []string
}

// Of returns err with a text that omits these secrets, also in their URL-encoded forms. Secrets of fewer than eight
// characters are not hidden, because ordinary words of the error could contain them.
func Of(err error, secrets ...string) Redacted {
	e := Redacted{Err: err}
	for _, secret := range secrets {
		if len(secret) >= 8 {
			e.Secrets = append(e.Secrets, secret, url.QueryEscape(secret), url.PathEscape(secret))
		}
	}
	return e
}

// Link hides a link and the values of its query, such as the token. The recipient is not hidden. If err is a panic, its
// value is hidden unless it is an error of the Go runtime, because it may contain a part of the link.
func Link(err error, link store.Secret, recipient string) Redacted {
	if panicked, ok := errors.AsType[*panics.Error](err); ok {
		panicked.Withhold()
	}
	secrets := []string{string(link)}
	if at, bad := url.Parse(string(link)); bad == nil {
		for _, values := range at.Query() {
			secrets = append(secrets, slices.DeleteFunc(values, func(v string) bool { return v == recipient })...)
		}
	}
	return Of(err, secrets...)
}

// Error returns the text with a placeholder for each secret.
func (e *Redacted) Error() string {
	text := e.Err.Error()
	for _, secret := range e.Secrets {
		text = strings.ReplaceAll(text, secret, store.Secret(secret).String())
	}
	return text
}

// Unwrap returns the original error.
func (e *Redacted) Unwrap() error { return e.Err }
