package providers

import (
	"context"
	"errors"
	"net/http"
	"net/mail"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
)

// Loops sends sign-in links with https://loops.so. The email is the template with that transactional ID, which contains
// the link as the data variable url. From and Content are not used. A provider that is used as a core.Mailer needs its
// own template: for other emails than sign-in links, the data variables kind, subject and text are set too.
// Environment: AUTH_LOOPS_KEY.
func Loops(transactionalID string, options ...EmailOptions) *core.EmailProvider {
	p := mailService{"loops", "Loops", func(
		ctx context.Context, key string, _ *mail.Address, m core.Email, l EmailContent,
	) (*http.Request, error) {
		variables := map[string]string{"url": string(m.URL)}
		if m.Kind != mailkind.SignIn {
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
