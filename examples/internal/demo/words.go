package demo

import "github.com/latchkey-go/latchkey/core"

// name returns the user's display name: a sign-in by email has no name.
func name(s *core.Session) string {
	if s.User.Name != "" {
		return s.User.Name
	}
	return s.User.Email
}

func orDash(s string) string {
	if s == "" {
		return "—"
	}
	return s
}
