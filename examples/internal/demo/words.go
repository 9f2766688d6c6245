package demo

import "github.com/latchkey-go/latchkey/core"

// name is what the page calls the visitor: a sign-in by mail knows no name.
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
