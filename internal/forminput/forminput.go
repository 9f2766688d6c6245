// Package forminput reads the arguments of a sign-in or sign-out that a component of the application starts.
package forminput

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/latchkey-go/latchkey/internal/exactjson"
	"github.com/latchkey-go/latchkey/internal/form"
)

// Errors are the errors of an input. They contain no input.
type Errors struct {
	FieldErrors map[string][]string
	FormErrors  []string
}

// MarshalJSON returns an object with the members failed, fieldErrors and formErrors.
func (e *Errors) MarshalJSON() ([]byte, error) {
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
func (e *Errors) Error() string {
	all := slices.Clone(e.FormErrors)
	for name, texts := range e.FieldErrors {
		all = append(all, name+": "+strings.Join(texts, ", "))
	}
	slices.Sort(all)
	return "core: input of a form action: " + strings.Join(all, "; ")
}

// Clone returns a copy.
func (e *Errors) Clone() *Errors {
	return &Errors{FieldErrors: maps.Clone(e.FieldErrors), FormErrors: slices.Clone(e.FormErrors)}
}

// Found reports whether there are any errors.
func (e *Errors) Found() bool { return len(e.FieldErrors) > 0 || len(e.FormErrors) > 0 }

// Field adds a message about a field.
func (e *Errors) Field(name, format string, args ...any) {
	if e.FieldErrors == nil {
		e.FieldErrors = map[string][]string{}
	}
	e.FieldErrors[name] = append(e.FieldErrors[name], fmt.Sprintf(format, args...))
}

// Input is a parsed input. InOptions is the member redirectTo of the options, which takes precedence over RedirectTo.
type Input struct {
	ProviderID, RedirectTo, InOptions, CSRFToken string
	AuthorizationParams                          any
	Fields                                       map[string]string
}

// SignIn reads an object with the members providerId, redirectTo, authorizationParams, options and csrfToken, and
// ignores others.
func SignIn(data []byte) (in Input, wrong Errors) {
	wrong.object(data, func(name string, raw []byte) error {
		switch name {
		case "providerId":
			wrong.text(name, raw, &in.ProviderID)
		case "redirectTo":
			wrong.text(name, raw, &in.RedirectTo)
		case "csrfToken":
			wrong.text(name, raw, &in.CSRFToken)
		case "authorizationParams":
			in.AuthorizationParams = wrong.params(raw)
		case "options":
			wrong.options(raw, &in)
		}
		return nil
	})
	return in, wrong
}

// SignOut reads an object with the members redirectTo and csrfToken. A redirectTo of another type does not stop the
// sign-out.
func SignOut(data []byte) (in Input, wrong Errors) {
	wrong.object(data, func(name string, raw []byte) error {
		switch name {
		case "redirectTo":
			in.RedirectTo, _ = exactjson.Text(raw)
		case "csrfToken":
			wrong.text(name, raw, &in.CSRFToken)
		}
		return nil
	})
	return in, wrong
}

func (e *Errors) object(data []byte, read func(name string, raw []byte) error) {
	if exactjson.Object(bytes.TrimSpace(data), read) != nil {
		e.FormErrors = append(e.FormErrors, "the input is no JSON object")
	}
}

// text reads a string member. null means that the member is absent.
func (e *Errors) text(name string, raw []byte, to *string) {
	text, ok := exactjson.Text(raw)
	if !ok && string(raw) != "null" {
		e.Field(name, "expected a string")
		return
	}
	*to = text
}

// params reads authorizationParams: a query string, or an object of strings.
func (e *Errors) params(raw []byte) any {
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
		e.Field("authorizationParams", "expected a string, or an object of strings")
	}
	return values
}

// options reads options: an object of strings, numbers and booleans.
func (e *Errors) options(raw []byte, to *Input) {
	if string(raw) == "null" {
		return
	}
	err := exactjson.Object(raw, func(name string, raw []byte) error {
		text, isText := exactjson.Text(raw)
		switch {
		case name == "redirectTo" && !isText, len(raw) > 0 && (raw[0] == '{' || raw[0] == '['):
			e.Field("options", "%.64q: expected a string", name)
			return nil
		case name == "redirectTo":
			to.InOptions = text
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
		e.Field("options", "expected an object")
	}
}

// Post returns the parameters of the authorization request and the fields of a form with the input. home is the default
// of RedirectTo.
func (in *Input) Post(wrong *Errors, home string) (params, fields url.Values) {
	params, fields = wrong.query(in.AuthorizationParams), url.Values{}
	for name, value := range in.Fields {
		if name == "callbackUrl" || name == "providerId" {
			wrong.Field("options", "%s: it has a field of its own", name)
		}
		fields.Set(name, value)
	}
	fields.Set("callbackUrl", cmp.Or(in.RedirectTo, home))
	if in.CSRFToken != "" {
		fields.Set("csrfToken", in.CSRFToken)
	}
	return params, fields
}

// Form returns the provider ID, the parameters of the authorization request and the other fields in a form of the
// application. home is the default of its field redirectTo.
func Form(posted *form.Fields, home string) (providerID string, params, fields url.Values) {
	params, fields = url.Values{}, url.Values{"callbackUrl": {home}}
	for _, name := range posted.Names() {
		value, ok := posted.Text(name)
		if param, found := strings.CutPrefix(name, "authorizationParams-"); found {
			params.Set(param, value)
		} else if ok {
			fields.Set(name, value)
		}
	}
	if to := fields.Get("redirectTo"); to != "" {
		fields.Set("callbackUrl", to)
	}
	providerID = fields.Get("providerId")
	fields.Del("redirectTo")
	fields.Del("providerId")
	return providerID, params, fields
}

// query returns parameters of an authorization request as a query.
func (e *Errors) query(of any) url.Values {
	values := url.Values{}
	switch params := of.(type) {
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
			e.Field("authorizationParams", "this is no query: name=value&…")
		}
		values = parsed
	default:
		e.Field("authorizationParams", "expected a string, a url.Values or a map[string]string, and it is a %T", params)
	}
	return values
}
