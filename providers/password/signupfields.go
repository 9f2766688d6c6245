package password

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// SignUpFields are fields of the application in the sign-up form, such as a company or a checkbox. Their values are
// stored with the pending sign-up until its email address is verified. Only the listed fields are read from a request;
// the browser can send any values for them. Users who sign up with a provider or by an invitation of the application
// without this form have none.
type SignUpFields struct {
	// Fields are the inputs below the name, in this order, at most 20. Labels are translated by the key "label." and the
	// Label. A Required field must not be empty. A value has at most 1000 bytes and no control characters. The value of a
	// checkbox is "on" or empty. The type "password" and the names email, name, password, newPassword, link, token, json,
	// csrfToken and callbackUrl are configuration errors.
	Fields []ui.Field
	// Check validates the values of a sign-up. A *[core.Problem] refuses them: its Text or Detail is shown at the field
	// Problem.Field, or above the form if that is empty, and the form keeps the typed values. Any other error is logged
	// and answered with a general failure. Check runs before the address is looked up. It may be nil.
	Check func(ctx context.Context, values map[string]string) error
	// Save stores the values after the address was verified and the user was created, before the user is signed in. If it
	// returns an error, the user is deleted and the link in the email still works: Save may be called again, with another
	// user. If the process ends before Save returns, the user exists without the values. Save is required with Fields.
	Save func(ctx context.Context, u *core.User, values map[string]string) error
}

const (
	maxSignUpFields = 20
	maxFieldValue   = 1000 // bytes
	// checked is the value of a checkbox that is on.
	checked = "on"

	codeFieldRequired = "field_required"
	codeFieldInvalid  = "field_invalid"
)

// reservedFields are the names of the form's own fields, and of the fields of errors.
var reservedFields = []string{
	"", "email", "name", "password", "newPassword", "link", "token", "json", "csrfToken", "callbackUrl",
}

// validate reports configuration errors.
func (s *SignUpFields) validate(h *core.PluginHost) {
	if len(s.Fields) == 0 {
		return
	}
	if s.Save == nil {
		h.AddConfigError("SignUpFields.Save is nil: set a function that stores the fields")
	}
	if h.Store != nil && h.UserDeleter == nil {
		h.AddConfigError("SignUpFields needs a Store that is a store.UserDeleter too (package core/store)")
	}
	if len(s.Fields) > maxSignUpFields {
		h.AddConfigError(fmt.Sprintf("SignUpFields has %d fields: list at most %d", len(s.Fields), maxSignUpFields))
	}
	for _, sentence := range (ui.Provider{ID: ID, Fields: s.Fields}).Validate() {
		h.AddConfigError("SignUpFields: " + sentence)
	}
	for i, f := range s.Fields {
		same := func(o ui.Field) bool { return o.Name == f.Name }
		switch {
		case slices.Contains(reservedFields, f.Name):
			h.AddConfigError(fmt.Sprintf("SignUpFields: the name %q of a field is reserved: use another one", f.Name))
		case slices.IndexFunc(s.Fields, same) < i:
			h.AddConfigError(fmt.Sprintf("SignUpFields: two fields have the name %q: rename one", f.Name))
		case f.Type == "password":
			h.AddConfigError(
				fmt.Sprintf("SignUpFields: the field %q has the type password: use another type, because its value is stored "+
					"as text", f.Name),
			)
		}
	}
}

// check validates the values. The error is a *core.Problem if the user can fix them.
func (s *SignUpFields) check(ctx context.Context, values map[string]string) error {
	for _, f := range s.Fields {
		value := values[f.Name]
		refuse := func(code string, text ui.Text) error {
			p := problem(http.StatusUnprocessableEntity, code, text)
			p.Field = f.Name
			return p
		}
		switch {
		case value == "" && f.Required:
			return refuse(codeFieldRequired, textFieldRequired)
		case len(value) > maxFieldValue, strings.ContainsFunc(value, unicode.IsControl),
			f.Type == "checkbox" && value != "" && value != checked:
			return refuse(codeFieldInvalid, textFieldInvalid)
		}
	}
	if s.Check == nil || len(s.Fields) == 0 {
		return nil
	}
	err := s.Check(ctx, values)
	if err == nil || errors.As(err, new(*core.Problem)) {
		return err
	}
	return fmt.Errorf("password: Options.SignUpFields.Check: %w", err)
}

// shown returns a field with its label and its submitted value.
func (v filled) shown(f ui.Field) ui.Field {
	f.Label = v.locale.Label(labelOf(f))
	if value, ok := v.values[f.Name]; ok {
		f.Value = value
	}
	if !slices.ContainsFunc(f.Attributes, func(a ui.Attribute) bool { return a.Name == "maxlength" }) {
		length := ui.Attribute{Name: "maxlength", Value: strconv.Itoa(maxFieldValue)}
		f.Attributes = append(slices.Clone(f.Attributes), length)
	}
	return f
}

func labelOf(f ui.Field) string { return cmp.Or(f.Label, f.Name) }
