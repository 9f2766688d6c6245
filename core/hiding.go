package core

import (
	"errors"
	"net/url"
	"slices"
	"strings"
)

// hiding is an error whose text leaves out secrets that got into it: from an address, or from the text of a function
// of the application, of a provider or of a transport.
type hiding struct {
	err     error
	secrets []string
}

// hide returns err with a text without these secrets, in any spelling that addresses have. A text of fewer than eight
// characters is none: it would be found in the words of the error.
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

// hideLink is hide for a link and for what its query says: the token, by whatever name. Who gets the link may be told.
// Of a panic only what Go itself says is left: another text may hold a part of the link.
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

// Error is the text with a placeholder for each secret.
func (e *hiding) Error() string {
	text := e.err.Error()
	for _, secret := range e.secrets {
		text = strings.ReplaceAll(text, secret, Secret(secret).String())
	}
	return text
}

// Unwrap returns the error as it was.
func (e *hiding) Unwrap() error { return e.err }

// As finds an [Error] within, with a cause that leaves out the secrets too: it is what gets into the log.
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
