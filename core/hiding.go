package core

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// hiding is an error whose text omits secrets. They can be in it because a URL, or the error of a callback, provider or
// transport, contains them.
type hiding struct {
	err     error
	secrets []string
}

// hide returns err with a text that omits these secrets, also in their URL-encoded forms. Secrets of fewer than eight
// characters are not hidden, because ordinary words of the error could contain them.
func hide(err error, secrets ...string) error {
	if err == nil {
		return nil
	}
	e := &hiding{err: err}
	for _, secret := range secrets {
		if len(secret) >= 8 {
			e.secrets = append(e.secrets, secret, url.QueryEscape(secret), url.PathEscape(secret))
		}
	}
	return e
}

// hideLink hides a link and the values of its query, such as the token. The recipient is not hidden. If err is a panic,
// its value is hidden unless it is an error of the Go runtime, because it may contain a part of the link.
func hideLink(err error, link Secret, recipient string) error {
	if panicked, ok := errors.AsType[*panicError](err); ok {
		panicked.withhold()
	}
	secrets := []string{string(link)}
	if at, bad := url.Parse(string(link)); bad == nil {
		for _, values := range at.Query() {
			secrets = append(secrets, slices.DeleteFunc(values, func(v string) bool { return v == recipient })...)
		}
	}
	return hide(err, secrets...)
}

// Error returns the text with a placeholder for each secret.
func (e *hiding) Error() string {
	text := e.err.Error()
	for _, secret := range e.secrets {
		text = strings.ReplaceAll(text, secret, Secret(secret).String())
	}
	return text
}

// Unwrap returns the original error.
func (e *hiding) Unwrap() error { return e.err }

// As finds an [Error] in the original error, and hides the secrets in its cause, because the cause is logged.
func (e *hiding) As(target any) bool {
	found, wanted := target.(**Error)
	within, there := errors.AsType[*Error](e.err)
	if !wanted || !there {
		return false
	}
	outer := *within
	if outer.Cause != nil {
		outer.Cause = &hiding{outer.Cause, e.secrets}
	}
	*found = &outer
	return true
}
