package main

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/account"
	"github.com/latchkey-go/latchkey/conformance/app/mailbox"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/providers/webauthn"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
	"github.com/latchkey-go/latchkey/ui"
)

// ways are the parts of the configuration that the application speaks to itself.
type ways struct {
	passwords *password.Provider // imports the owner's password, and has letters to send at the end
	account   *account.Account   // invites
	mailbox   *mailbox.Mailbox   // in place of a mail server: shows the letters at /mailbox
}

// configure is the whole of the sign-in: the ways in, where people are kept, what the pages look like and which
// languages they speak. The provider and the mailbox are for development; a product names GitHub and a mail server.
func (s *site) configure() error {
	store, err := bboltstore.New(s.db)
	if err != nil {
		return err
	}
	box := mailbox.NewWith(providers.WriteLetter)
	s.ways = ways{
		mailbox:   box,
		passwords: password.New(password.Options{Mail: box.Mailer()}),
		account:   account.New(account.Options{Mail: box.Mailer(), Delete: s.forget}),
	}
	s.team = newTeam(s.db, s.ways.account.Invitation)
	s.auth, err = core.New(core.Config{
		URL:     s.url,
		Secrets: []core.Secret{s.secret},
		Store:   store,
		Providers: []core.Provider{
			providers.OIDC("dev", s.provider.Issuer(), providers.Options{
				Name: "Development", ClientID: s.provider.ClientID(), ClientSecret: core.Secret(s.provider.ClientSecret()),
			}),
			webauthn.Passkey(),
			s.ways.passwords,
			providers.Email("no-reply@localhost", box.Send),
		},
		// The team is asked before the account page, which takes an invitation away once it was used.
		Parts:          []core.Part{s.team, s.ways.account},
		Data:           s.team.people,
		Session:        core.SessionConfig{Bearer: true}, // for the API
		Theme:          core.Theme{Name: "Corkboard", BrandColor: "#a8481f", Logo: "/assets/logo.svg"},
		Locales:        languages,
		Callbacks:      core.Callbacks{Locale: chosenLanguage},
		Audit:          s.audit,
		Logger:         s.log,
		Now:            s.now,
		EnableWebAuthn: true,
	})
	return err
}

// audit is told of every decision about somebody's access. Live pages look again whether their session goes on when one
// has ended; another sink, such as core.AuditTo(logger), could stand beside it.
func (s *site) audit(_ context.Context, e core.AuditEvent) {
	switch e.Name {
	case core.AuditSignOut, core.AuditSessionEnded, core.AuditSessionsEnded, core.AuditUserDeleted:
		s.live.wake()
	default: // nothing that ends a session
	}
}

// forget removes what the board keeps of somebody who deletes their account. Their cards stay: they are the team's.
func (s *site) forget(_ context.Context, u *core.User) error {
	if m, err := s.team.members.get(u.ID); err == nil && m.Role == owner {
		return &core.Problem{
			Status: http.StatusConflict, Code: "owns_board",
			Text: ui.Text{Key: "leave.owner", English: "The owner of a board cannot leave it."},
		}
	}
	return s.team.members.remove(u.ID)
}

// The owner of the board need not sign up. demoHash is argon2id of demoPassword.
const (
	demoEmail, demoPassword = "demo@example.com", "demo"

	demoHash = "$argon2id$v=19$m=19456,t=2,p=1$ZXhhbXBsZS1vZi1hLWhvdQ$p+KsdC3ySuoy2GGrkaN1cc5kQiMA3LyPW1yEx/gyKoQ"
)

// seed makes the owner and some cards, on the first start.
func (s *site) seed(ctx context.Context) error {
	store, err := bboltstore.New(s.db)
	if err != nil {
		return err
	}
	if _, err := store.UserByEmail(ctx, demoEmail); !errors.Is(err, core.ErrNotFound) {
		return err // nil: they are there
	}
	user, err := store.CreateUser(ctx, &core.User{
		ID: core.NewID(), Name: "Demi Owen", Email: demoEmail, EmailVerified: time.Now(),
	})
	if err != nil {
		return err
	}
	return errors.Join(
		s.ways.passwords.Import(ctx, user.ID, demoHash),
		s.team.members.put(user.ID, Member{ID: user.ID, Name: user.Name, Email: user.Email, Role: owner, Confirmed: true}),
		s.cards.seed(),
	)
}
