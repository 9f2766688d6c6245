package providers

import (
	"context"
	"errors"
	"net/http"
	"net/mail"

	"github.com/latchkey-go/latchkey/core"
)

// Loops mails sign-in links through https://loops.so. The letter is the service's template with that transactional id,
// in which the data variable url is the link; From and Letter are not used. A provider that serves as a core.Mailer
// takes a template of its own: letters other than sign-in links fill the data variables kind, subject and text as well.
// Environment: AUTH_LOOPS_KEY.
func Loops(transactionalID string, options ...EmailOptions) *core.EmailProvider {
	p := mailService{"loops", "Loops", func(
		ctx context.Context, key string, _ *mail.Address, m core.Letter, l Letter,
	) (*http.Request, error) {
		variables := map[string]string{"url": string(m.URL)}
		if m.Kind != core.LetterSignIn {
			variables["kind"], variables["subject"], variables["text"] = string(m.Kind), l.Subject, l.Text
		}
		return post(ctx, "https://app.loops.so/api/v1/transactional", "Bearer "+key, map[string]any{
			"transactionalId": transactionalID, "email": m.To, "dataVariables": variables,
		})
	}}.provider(one(options))
	configure := p.Configure
	p.Configure = func(p *core.EmailProvider, getenv func(string) string) error {
		if transactionalID == "" {
			return errors.New("no transactional id: create a template in Loops and pass its id")
		}
		return configure(p, getenv)
	}
	return p
}
