package core

import (
	"context"
	"io"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cleanup"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/providersessions"
	"github.com/latchkey-go/latchkey/core/internal/records"
	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/exchange"
	"github.com/latchkey-go/latchkey/internal/revocation"
	"github.com/latchkey-go/latchkey/internal/sessiondata"
	"github.com/latchkey-go/latchkey/internal/sessionrecord"
	"github.com/latchkey-go/latchkey/internal/supersede"
)

// sessions reads, creates and ends the sessions of an Auth under both strategies.
type sessions struct {
	config    SessionConfig
	jwt       sessionTokens     // StrategyJWT
	rows      sessionstate.Rows // StrategyDatabase
	cleaning  *cleanup.Schedule
	replaced  *supersede.Memory[replacement]
	callbacks *Callbacks
	events    *Events
	now       func() time.Time
	// facts reports whether sessions carry their ID, authentication time and methods. A plugin or Session.Revocation turns
	// it on.
	facts bool
	// records stores the records of sessions. It is nil if there are none.
	records *sessionrecord.Records
	// revoked has the revoked sessions of StrategyJWT. It is nil if Session.Revocation is off.
	revoked *revocation.List
	// lister lists stored sessions. It is nil if the store does not implement it.
	lister store.SessionLister
	// providerSessions maps the sessions of providers to local sessions.
	providerSessions *providersessions.Sessions
	// away tracks provider sessions, for sign-out at the provider. It is nil if no provider has OAuthProvider.Logout.
	away *awaySessions
	// data loads the application's data (Config.Data). It is nil if Config.Data is not set.
	data *sessiondata.Keeper
	// impersonation is what a plugin passed to PluginHost.AllowImpersonation. It is nil if none did.
	impersonation *impersonation
	// kept is nil if no plugin keeps several sessions in a browser.
	kept *keptSessions
	// exchanges remembers the results of recent callbacks until a sign-out.
	exchanges *exchanges
}

func newSessions(
	c *Config, seal cookies.Sealer, secrets []string, store stores, cleaning *cleanup.Schedule,
	proofs, facts bool, log *reporter,
) *sessions {
	s := &sessions{
		callbacks: &c.Callbacks, events: &c.Events, now: c.Now, providerSessions: providersessions.New(c.Now), facts: facts,
		revoked: newRevocations(c, store.records, log), lister: store.lister, exchanges: exchange.New[exchangeResult](c.Now),
		config: c.Session, replaced: supersede.New[replacement](c.Now),
		cleaning: cleaning,
		rows: sessionstate.Rows{
			Lifetimes: c.Session.lifetimes(), Store: store.sessions, Now: c.Now, Rand: c.Rand, Audience: c.Audience,
			HashTokens: c.Session.HashTokens, Facts: facts, Created: cleaning.Perhaps,
		},
	}
	s.jwt = newSessionTokens(c, seal, secrets, store.Store, proofs, facts, s.revoked)
	if generate := c.Session.GenerateToken; generate != nil {
		s.rows.Generate = func() (string, error) { return guarded("Session.GenerateToken", generate) }
	}
	if facts {
		s.records = sessionrecord.New(sessionrecord.Options{
			Records: records.Of(store.records), Now: c.Now,
			Failed: func(ctx context.Context, err error) { log.failure(ctx, errorf(ErrStore, "%w", err)) },
		})
		s.rows.Records = s.records
	}
	return s
}

// newRevocations returns the list of revoked sessions. It is nil if Session.Revocation is off.
func newRevocations(c *Config, kept store.RecordStore, log *reporter) *revocation.List {
	if c.Session.Revocation.On != True || kept == nil {
		return nil
	}
	return revocation.New(revocation.Options{
		Records: records.Of(kept), Every: c.Session.Revocation.Every, Strict: c.Session.Revocation.Strict,
		TokenAge: max(c.JWT.MaxAge, c.Session.MaxAge), Now: c.Now,
		Failed: func(ctx context.Context, err error) {
			log.failure(ctx, errorf(ErrStore, "read the list of ended sessions (Session.Revocation): %w", err))
		},
	})
}

// Stats returns values for monitoring. It is safe for concurrent use.
func (a *Auth) Stats() (s observe.AuthStats) {
	if a.sessions != nil && a.sessions.revoked != nil {
		s.RevocationAge, s.RevocationRead = a.sessions.revoked.Age()
	}
	return s
}

// awaySessions tracks the provider session of each sign-in, for RP-initiated logout ([OAuthProvider.Logout]). A cookie
// has the provider and a key. A record under that key has the ID token, which is too long for a cookie. A nil
// *awaySessions means that no provider is asked.
type awaySessions struct {
	clients map[string]*oauthClient
	records store.RecordStore // nil: the sign-out request has no ID token
	maxAge  time.Duration     // Session.MaxAge
	now     func() time.Time
	rand    io.Reader
}
