package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
)

// SignInInput is what a component of the application asks for when it starts a sign-in: what useSignIn takes in
// component frameworks. It reads JSON from a script as it comes, and keeps what is wrong with it for
// [Auth.SignInWith], which says so by field.
type SignInInput struct {
	// ProviderID is the provider; empty: the visitor chooses on the sign-in page.
	ProviderID string
	// RedirectTo is where the visitor goes afterwards; empty: the root of the application.
	RedirectTo string
	// AuthorizationParams are parameters for the provider's page: a query as string, a url.Values or a map[string]string;
	// nil: none.
	AuthorizationParams any
	// Fields are what the provider gets, such as email or username and password. In JSON they are the member options,
	// whose redirectTo goes before the outer one.
	Fields map[string]string
	// CSRFToken is the token of a form; empty: the request proves by other means that it comes from this site, where
	// Config.CSRF lets it.
	CSRFToken string

	inOptions string // the redirectTo of the options
	wrong     InvalidInputError
}

// SignOutInput is what a component of the application asks for when it signs out: what useSignOut takes.
type SignOutInput struct {
	// RedirectTo is where the visitor goes afterwards; empty: the root of the application.
	RedirectTo string
	// CSRFToken is as that of [SignInInput].
	CSRFToken string

	wrong InvalidInputError
}

// InvalidInputError is why an input of [Auth.SignInWith] or [Auth.SignOutWith] was refused. Its JSON has the shape that
// component frameworks know: failed, fieldErrors with a list of sentences for each field concerned, and formErrors,
// those that concern none. The sentences are for developers and repeat nothing of the input.
type InvalidInputError struct {
	FieldErrors map[string][]string
	FormErrors  []string
}

// MarshalJSON writes all three members.
func (e *InvalidInputError) MarshalJSON() ([]byte, error) {
	fields, form := e.FieldErrors, e.FormErrors
	if fields == nil {
		fields = map[string][]string{}
	}
	if form == nil {
		form = []string{}
	}
	return json.Marshal(map[string]any{"failed": true, "fieldErrors": fields, "formErrors": form})
}

// Error lists the fields.
func (e *InvalidInputError) Error() string {
	all := slices.Clone(e.FormErrors)
	for name, texts := range e.FieldErrors {
		all = append(all, name+": "+strings.Join(texts, ", "))
	}
	slices.Sort(all)
	return "core: input of a form action: " + strings.Join(all, "; ")
}

// found reports whether anything is wrong.
func (e *InvalidInputError) found() bool { return len(e.FieldErrors) > 0 || len(e.FormErrors) > 0 }

func (e *InvalidInputError) field(name, format string, args ...any) {
	if e.FieldErrors == nil {
		e.FieldErrors = map[string][]string{}
	}
	e.FieldErrors[name] = append(e.FieldErrors[name], fmt.Sprintf(format, args...))
}

func (e *InvalidInputError) form(text string) { e.FormErrors = append(e.FormErrors, text) }

// UnmarshalJSON reads an object with the members providerId, redirectTo, authorizationParams, options and csrfToken,
// and leaves others out. A member of another type than it should have is no error here: SignInWith refuses it.
func (in *SignInInput) UnmarshalJSON(data []byte) error {
	*in = SignInInput{}
	read := func(name string, raw []byte) error {
		switch name {
		case "providerId":
			in.wrong.text(name, raw, &in.ProviderID)
		case "redirectTo":
			in.wrong.text(name, raw, &in.RedirectTo)
		case "csrfToken":
			in.wrong.text(name, raw, &in.CSRFToken)
		case "authorizationParams":
			in.AuthorizationParams = in.wrong.params(raw)
		case "options":
			in.wrong.options(raw, in)
		}
		return nil
	}
	in.wrong.object(data, read)
	return nil
}

// UnmarshalJSON reads an object with the members redirectTo and csrfToken, as that of [SignInInput] does.
func (in *SignOutInput) UnmarshalJSON(data []byte) error {
	*in = SignOutInput{}
	in.wrong.object(data, func(name string, raw []byte) error {
		switch name {
		case "redirectTo":
			in.RedirectTo, _ = exactjson.Text(raw) // another value does not stop the sign-out
		case "csrfToken":
			in.wrong.text(name, raw, &in.CSRFToken)
		}
		return nil
	})
	return nil
}

func (e *InvalidInputError) object(data []byte, read func(name string, raw []byte) error) {
	if exactjson.Object(bytes.TrimSpace(data), read) != nil {
		e.form("the input is no JSON object")
	}
}

// text reads a member that is a text; null is as if it were not there.
func (e *InvalidInputError) text(name string, raw []byte, to *string) {
	text, ok := exactjson.Text(raw)
	if !ok && string(raw) != "null" {
		e.field(name, "expected a string")
		return
	}
	*to = text
}

// params reads authorizationParams: a query, or an object of texts.
func (e *InvalidInputError) params(raw []byte) any {
	if text, ok := exactjson.Text(raw); ok {
		return text
	}
	values, ok := map[string]string{}, true
	err := exactjson.Object(raw, func(name string, raw []byte) error {
		text, isText := exactjson.Text(raw)
		values[name], ok = text, ok && isText
		return nil
	})
	if (err != nil || !ok) && string(raw) != "null" {
		e.field("authorizationParams", "expected a string, or an object of strings")
	}
	return values
}

// options reads options: texts, numbers and booleans.
func (e *InvalidInputError) options(raw []byte, to *SignInInput) {
	if string(raw) == "null" {
		return
	}
	err := exactjson.Object(raw, func(name string, raw []byte) error {
		text, isText := exactjson.Text(raw)
		switch {
		case name == "redirectTo" && !isText, len(raw) > 0 && (raw[0] == '{' || raw[0] == '['):
			e.field("options", "%.64q: expected a string", name)
			return nil
		case name == "redirectTo":
			to.inOptions = text
			return nil
		case string(raw) == "null":
			return nil
		case !isText:
			text = string(raw)
		}
		if to.Fields == nil {
			to.Fields = map[string]string{}
		}
		to.Fields[name] = text
		return nil
	})
	if err != nil {
		e.field("options", "expected an object")
	}
}

// query is AuthorizationParams as a query.
func (in *SignInInput) query(e *InvalidInputError) url.Values {
	values := url.Values{}
	switch params := in.AuthorizationParams.(type) {
	case nil:
	case url.Values:
		values = params
	case map[string]string:
		for name, value := range params {
			values.Set(name, value)
		}
	case string:
		parsed, err := url.ParseQuery(strings.TrimPrefix(params, "?"))
		if err != nil {
			e.field("authorizationParams", "this is no query: name=value&…")
		}
		values = parsed
	default:
		e.field("authorizationParams", "expected a string, a url.Values or a map[string]string, and it is a %T", params)
	}
	return values
}
