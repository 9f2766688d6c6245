package core

import (
	"context"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/cleanup"
	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/oauthflow"
	"github.com/latchkey-go/latchkey/core/internal/providersessions"
	"github.com/latchkey-go/latchkey/core/internal/records"
	"github.com/latchkey-go/latchkey/core/internal/sessioncookies"
	"github.com/latchkey-go/latchkey/core/internal/sessionlist"
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
	jwt       sessionstate.Tokens // StrategyJWT
	rows      sessionstate.Rows   // StrategyDatabase
	cleaning  *cleanup.Schedule
	replaced  *sessioncookies.Memory
	callbacks *Callbacks
	events    *Events
	now       func() time.Time
	// facts reports whether sessions carry their ID, authentication time and methods. A plugin or Session.Revocation
	// turns it on.
	facts bool
	// records stores the records of sessions. It is nil if there are none.
	records *sessionrecord.Records
	// revoked has the revoked sessions of StrategyJWT. It is nil if Session.Revocation is off.
	revoked *revocation.List
	// all lists and ends the sessions of users.
	all sessionlist.Sessions
	// providerSessions maps the sessions of providers to local sessions.
	providerSessions *providersessions.Sessions
	// providerLogouts signs users out at their provider too. It is nil if no provider has OAuthProvider.Logout.
	providerLogouts *providerLogouts
	// data loads the application's data (Config.Data). It is nil if Config.Data is not set.
	data *sessiondata.Keeper
	// impersonation is what a plugin passed to PluginHost.AllowImpersonation. It is nil if none did.
	impersonation *impersonation
	// kept is nil if no plugin keeps several sessions in a browser.
	kept *keptSessions
	// exchanges remembers the results of recent callbacks until a sign-out.
	exchanges *oauthflow.Exchanges
}

func newSessions(
	c *Config, seal cookies.Sealer, secrets []string, store stores, cleaning *cleanup.Schedule,
	proofs, facts bool, log *reporter,
) *sessions {
	s := &sessions{
		callbacks: &c.Callbacks, events: &c.Events, now: c.Now, providerSessions: providersessions.New(c.Now), facts: facts,
		revoked: newRevocations(c, store.Records, log), exchanges: exchange.New[*oauthflow.Result](c.Now),
		config: c.Session, replaced: supersede.New[sessioncookies.Replacement](c.Now),
		cleaning: cleaning,
		rows: sessionstate.Rows{
			Lifetimes: c.Session.lifetimes(), Store: store.Sessions, Now: c.Now, Rand: c.Rand, Audience: c.Audience,
			HashTokens: c.Session.HashTokens, Facts: facts, Created: cleaning.Perhaps,
			Generate: c.Session.GenerateToken,
		},
	}
	s.jwt = newSessionTokens(c, seal, secrets, store.Store, proofs, facts, s.revoked)
	if facts {
		s.records = sessionrecord.New(sessionrecord.Options{
			Records: records.Of(store.Records), Now: c.Now,
			Failed: func(ctx context.Context, err error) { log.failure(ctx, errorf(ErrStore, "%w", err)) },
		})
		s.rows.Records = s.records
	}
	s.all = sessionlist.Sessions{
		Lister: store.SessionLister, Revoked: s.revoked, Records: s.records, Now: c.Now,
		Forget: func(userID string) { s.exchanges.Erase("", userID) },
	}
	if c.Session.Strategy == StrategyDatabase {
		s.all.Rows = &s.rows
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

// newSessionTokens returns the session tokens of a configuration. proofs reports whether a sign-in with a configured
// provider can verify an email address.
func newSessionTokens(
	c *Config, seal cookies.Sealer, secrets []string, users Store, proofs, facts bool, revoked *revocation.List,
) sessionstate.Tokens {
	j := sessionstate.Tokens{
		Sealer: seal, Lifetimes: c.Session.lifetimes(), EncodedMaxAge: c.JWT.MaxAge, Users: users, Proofs: proofs,
		Facts: facts, Revocations: revoked, IsRevoked: c.JWT.Revoked,
	}
	list := make([]Secret, len(secrets))
	for i, s := range secrets {
		list[i] = Secret(s)
	}
	if encode := c.JWT.Encode; encode != nil {
		j.Encode = func(ctx context.Context, t *Token, salt string, maxAge time.Duration) (string, error) {
			return encode(ctx, EncodeParams{Token: t, Secrets: slices.Clone(list), Salt: salt, MaxAge: maxAge})
		}
	}
	if decode := c.JWT.Decode; decode != nil {
		j.Decode = func(ctx context.Context, value, salt string) (*Token, error) {
			return decode(ctx, DecodeParams{Token: value, Secrets: slices.Clone(list), Salt: salt})
		}
	}
	return j
}

var errExpired = errormarks.ByClient(errormarks.Denial(audit.ReasonExpired, "token has expired"))
