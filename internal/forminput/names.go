package forminput

import "github.com/latchkey-go/latchkey/internal/mailaddr"

// Names returns the user name in a sign-in form, for limits and the audit log. It is in the field identifier. If that is
// empty, it is the first usual field that is not empty. Unless the form has declared fields, others are the names in the
// other usual fields: only the application knows which field names the user, and an attacker could put a new name into
// the first one with each guess.
func Names(form map[string]string, identifier string, declared bool) (typed string, others []string) {
	if identifier != "" {
		return mailaddr.Canonical(form[identifier]), nil
	}
	found := false
	for _, field := range []string{"email", "username", "name"} {
		name := mailaddr.Canonical(form[field])
		switch {
		case form[field] != "" && !found:
			typed, found = name, true
		case name != "" && name != typed && !declared:
			others = append(others, name)
		}
	}
	return typed, others
}
