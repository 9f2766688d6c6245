package core

import (
	"context"
	"maps"
)

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
