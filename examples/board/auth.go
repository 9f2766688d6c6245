package main

import (
	"context"
	"errors"
	"net/http"
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
	"github.com/latchkey-go/latchkey/ui"
)

// ways has the plugins that the application calls itself.
type ways struct {
	passwords *password.Provider // imports the owner's password, and sends pending emails at shutdown
	account   *account.Account   // sends invitations
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
		account:   account.New(account.Options{Mail: box, Delete: s.forget}),
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
		// The gates of the team and of second factors must run before the account plugin, which deletes a used invitation.
		Plugins: []core.Plugin{
			s.team, secondfactor.New(secondfactor.Options{Issuer: "Corkboard"}), s.ways.account,
		},
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

// audit receives each authentication decision. When a session ends, live pages check their session again. It could also
// call another sink, such as audit.LogTo(logger).
func (s *site) audit(_ context.Context, e audit.Event) {
	switch e.Name {
	case audit.SignOut, audit.SessionEnded, audit.SessionsEnded, audit.UserDeleted:
		s.live.wake()
	default: // does not end a session
	}
}

// forget deletes the member when a user deletes their account. Their cards stay, because they belong to the team.
func (s *site) forget(_ context.Context, u *core.User) error {
	if m, err := s.team.members.get(u.ID); err == nil && m.Role == owner {
		return &core.Problem{
			Status: http.StatusConflict, Code: "owns_board",
			Text: ui.Text{Key: "leave.owner", English: "The owner of a board cannot leave it."},
		}
	}
	return s.team.members.remove(u.ID)
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
	if _, err := store.UserByEmail(ctx, demoEmail); !errors.Is(err, core.ErrNotFound) {
		return err // nil if the owner exists
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
