package core

import (
	"context"
	"maps"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"
)

// countedName is the spelling of a name under which a [Limiter] counts: without accents, invisible characters and the
// difference between upper and lower case. Tables whose collation knows none of these find one row under spellings
// without end, each of which would else have a count of its own. Two people whose names become one share a count.
func countedName(name string) string {
	if plainName(name) {
		return name
	}
	invisible := func(r rune) rune {
		if unicode.In(r, unicode.Cc, unicode.Cf, unicode.Mn, unicode.Other_Default_Ignorable_Code_Point) {
			return -1
		}
		return unicode.ToLower(r)
	}
	return strings.TrimSpace(strings.Map(invisible, norm.NFKD.String(name)))
}

// plainName reports whether a name is its own counted spelling, as nearly all are.
func plainName(name string) bool {
	for i := range len(name) {
		if c := name[i]; c <= ' ' || c >= 0x7f || c >= 'A' && c <= 'Z' {
			return false
		}
	}
	return true
}

// besides are the attempts at the other names in a form without declared fields: which of them says whose sign-in it
// is, Authorize alone knows, and a guesser puts a new one into the others each time.
func (f *credentialsFlow) besides(credentials map[string]string, typed string) (all []LimitParams) {
	if f.Identifier != "" || len(f.Fields) > 0 {
		return nil
	}
	for _, field := range usualNames {
		if name := canonicalName(credentials[field]); name != "" && name != typed {
			all = append(all, LimitParams{
				Attempt: AttemptCredentials, Identifier: name, Credentials: maps.Clone(credentials),
			})
		}
	}
	return all
}

// askAll asks for several attempts, each of which has to be allowed.
func (l *limits) askAll(ctx context.Context, c *call, all []LimitParams) error {
	for _, p := range all {
		if err := l.ask(ctx, c, p); err != nil {
			return err
		}
	}
	return nil
}

// rightAll gives several attempts back.
func (l *limits) rightAll(ctx context.Context, c *call, all []LimitParams) {
	for _, p := range all {
		l.right(ctx, c, p)
	}
}
