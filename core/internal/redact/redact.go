// Package redact removes secrets from the texts of errors. A secret can be in the error of a transport, provider or
// callback, because a URL contains it.
package redact

import (
	"errors"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/panics"
)

type redacted struct {
	err     error
	secrets []string
}

// Texts returns err with a text that omits these secrets, whatever their lengths.
func Texts(err error, secrets ...string) error {
	if err == nil {
		return nil
	}
	return &redacted{err, slices.DeleteFunc(secrets, func(s string) bool { return s == "" })}
}

// Secrets returns err with a text that omits these secrets, also in their URL-encoded forms. Secrets of fewer than
// eight characters are not hidden, because ordinary words of the error could contain them.
func Secrets(err error, secrets ...string) error {
	var all []string
	for _, secret := range secrets {
		if len(secret) >= 8 {
			all = append(all, secret, url.QueryEscape(secret), url.PathEscape(secret))
		}
	}
	return Texts(err, all...)
}

// Mail hides the link and the code of an email, and the values of the link's query, such as the token. The recipient is
// not hidden. If err is a panic, its value is hidden unless it is an error of the Go runtime, because it may contain a
// part of the link.
func Mail(err error, link, recipient, code string) error {
	if panicked, ok := errors.AsType[*panics.Error](err); ok {
		panicked.Withhold()
	}
	secrets := []string{link}
	if at, bad := url.Parse(link); bad == nil {
		for _, values := range at.Query() {
			secrets = append(secrets, slices.DeleteFunc(values, func(v string) bool { return v == recipient })...)
		}
	}
	return Texts(Secrets(err, secrets...), code) // a code is too short for Secrets
}

// Error returns the text with a placeholder for each secret.
func (e *redacted) Error() string {
	text := e.err.Error()
	for _, secret := range e.secrets {
		text = strings.ReplaceAll(text, secret, store.Secret(secret).String())
	}
	return text
}

// Unwrap returns the original error.
func (e *redacted) Unwrap() error { return e.err }

// As finds an error with a field Cause in the original error, for example a core.Error, and hides the secrets in a copy
// of it, because the cause is logged.
func (e *redacted) As(target any) bool {
	found := reflect.ValueOf(target).Elem()
	if found.Kind() != reflect.Pointer || found.Type().Elem().Kind() != reflect.Struct {
		return false
	}
	if field, ok := found.Type().Elem().FieldByName("Cause"); !ok || field.Type != reflect.TypeFor[error]() {
		return false
	}
	if !errors.As(e.err, target) {
		return false
	}
	outer := reflect.New(found.Type().Elem())
	outer.Elem().Set(found.Elem())
	if cause := outer.Elem().FieldByName("Cause"); !cause.IsNil() {
		cause.Set(reflect.ValueOf(Texts(cause.Interface().(error), e.secrets...))) //nolint:forcetypeassert // its type
	}
	found.Set(outer)
	return true
}
