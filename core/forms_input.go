package core

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// SignInInput contains the arguments of a sign-in that a component of the application starts, like those of useSignIn
// in component frameworks. It can be decoded from the JSON of a script. [Auth.SignInWith] reports invalid members by
// field.
type SignInInput struct {
	// ProviderID is the provider. If it is empty, the user selects one on the sign-in page.
	ProviderID string
	// RedirectTo is where the browser continues after the sign-in. The default is the root of the application.
	RedirectTo string
	// AuthorizationParams are parameters of the authorization request: a query string, a url.Values or a
	// map[string]string. It may be nil.
	AuthorizationParams any
	// Fields are the fields for the provider, such as email, or username and password. In JSON they are the member
	// options, whose redirectTo takes precedence over the outer one.
	Fields map[string]string
	// CSRFToken is the CSRF token of a form. It may be empty if the request has other proof that this site sent it and
	// Config.CSRF accepts that.
	CSRFToken string

	inOptions string // the redirectTo of the options
	wrong     InvalidInputError
}

// SignOutInput contains the arguments of a sign-out that a component of the application starts, like those of
// useSignOut.
type SignOutInput struct {
	// RedirectTo is where the browser continues after the sign-out. The default is the root of the application.
	RedirectTo string
	// CSRFToken is the CSRF token, as in [SignInInput].
	CSRFToken string

	wrong InvalidInputError
}

// InvalidInputError is the error of invalid input to [Auth.SignInWith] or [Auth.SignOutWith]. Its JSON has the format
// of component frameworks: failed; fieldErrors with a list of messages for each invalid field; formErrors with messages
// about the whole input. The messages are for developers and contain no input.
type InvalidInputError struct {
	FieldErrors map[string][]string
	FormErrors  []string
}

// MarshalJSON returns an object with all three members.
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

// Error lists the messages.
func (e *InvalidInputError) Error() string {
	all := slices.Clone(e.FormErrors)
	for name, texts := range e.FieldErrors {
		all = append(all, name+": "+strings.Join(texts, ", "))
	}
	slices.Sort(all)
	return "core: input of a form action: " + strings.Join(all, "; ")
}

// found reports whether there are any errors.
func (e *InvalidInputError) found() bool { return len(e.FieldErrors) > 0 || len(e.FormErrors) > 0 }

func (e *InvalidInputError) field(name, format string, args ...any) {
	if e.FieldErrors == nil {
		e.FieldErrors = map[string][]string{}
	}
	e.FieldErrors[name] = append(e.FieldErrors[name], fmt.Sprintf(format, args...))
}

func (e *InvalidInputError) form(text string) { e.FormErrors = append(e.FormErrors, text) }

// UnmarshalJSON reads an object with the members providerId, redirectTo, authorizationParams, options and csrfToken,
// and ignores others. A member of the wrong type is not an error here: SignInWith rejects it.
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

// UnmarshalJSON reads an object with the members redirectTo and csrfToken, like that of [SignInInput].
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

// text reads a string member. null means that the member is absent.
func (e *InvalidInputError) text(name string, raw []byte, to *string) {
	text, ok := exactjson.Text(raw)
	if !ok && string(raw) != "null" {
		e.field(name, "expected a string")
		return
	}
	*to = text
}

// params reads authorizationParams: a query string, or an object of strings.
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

// options reads options: an object of strings, numbers and booleans.
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

// query returns AuthorizationParams as a query.
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
