package main

import (
	"context"
	"errors"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/dev/mailbox"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/plugins/secondfactor"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/providers/webauthn"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
)

// ways has the plugins that the application calls itself.
type ways struct {
	passwords *password.Provider // imports the owner's password, and sends pending emails at shutdown
	mailbox   *mailbox.Mailbox   // replaces the mail server: shows the emails at /mailbox
}

// configure sets up the sign-in: the sign-in methods, the store, the look and the languages. The provider and the
// mailbox are for development; a real product uses GitHub, for example, and a mail server.
func (s *site) configure() error {
	store, err := bboltstore.New(s.db)
	if err != nil {
		return err
	}
	box := mailbox.NewWith(providers.WriteEmail)
	s.ways = ways{
		mailbox:   box,
		passwords: password.New(password.Options{Mail: box}),
	}
	s.people = newPeople(box)
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
		Plugins: []core.Plugin{
			s.people, secondfactor.New(secondfactor.Options{Issuer: "Corkboard"}),
			account.New(account.Options{Mail: box, Delete: s.people.forget}),
		},
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

// audit receives each authentication decision. When a session ends or a role changes, live pages check it again. It
// could also call another sink, such as audit.LogTo(logger).
func (s *site) audit(_ context.Context, e audit.Event) {
	switch e.Name {
	case audit.SignOut, audit.SessionEnded, audit.SessionsEnded, audit.UserDeleted,
		audit.MemberJoined, audit.MemberChanged, audit.MemberRemoved:
		s.live.wake()
	default: // no page changes
	}
}

// The owner of the board exists without a sign-up. demoHash is the argon2id hash of demoPassword.
const (
	demoEmail, demoPassword = "demo@example.com", "demo"

	demoHash = "$argon2id$v=19$m=19456,t=2,p=1$ZXhhbXBsZS1vZi1hLWhvdQ$p+KsdC3ySuoy2GGrkaN1cc5kQiMA3LyPW1yEx/gyKoQ"
)

// seed creates the owner and some cards on the first start.
func (s *site) seed(ctx context.Context) error {
	store, err := bboltstore.New(s.db)
	if err != nil {
		return err
	}
	board, err := s.people.Get(ctx, boardSlug)
	if err == nil {
		s.people.board = board.ID
		return nil
	}
	if !errors.Is(err, core.ErrNotFound) {
		return err
	}
	user, err := store.CreateUser(ctx, &core.User{
		ID: core.NewID(), Name: "Demi Owen", Email: demoEmail, EmailVerified: time.Now(),
	})
	if err != nil {
		return err
	}
	return errors.Join(
		s.ways.passwords.Import(ctx, user.ID, demoHash),
		s.people.found(ctx, user.ID),
		s.cards.seed(),
	)
}
