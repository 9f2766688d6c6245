package core

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// SessionInfo is one session of a user, as the user may see it: "signed in on three devices". What is not known is
// zero: of a session that began before a record of it was kept, or that Auth.js began, ID and Expires are known.
type SessionInfo struct {
	// ID names the session in [EndOptions] and is that of [Session]. It is no secret.
	ID string
	// Current is true for the session of the request whose context was given.
	Current bool
	// Made is when it began, Seen when it was last used, within an hour.
	Made, Seen time.Time
	// Agent is the User-Agent with which it began: 256 printable bytes at most, and the visitor's word.
	Agent string
	// Peer is the network from which it began, as [LimitParams] has it.
	Peer netip.Prefix
	// Methods are how the user proved who they are, Provider is the ID of the provider.
	Methods  []Method
	Provider string
	// Expires is when it ends unless it is used before.
	Expires time.Time
}

// EndOptions say which sessions of a user are to end; zero: all of them. Set one field at most.
type EndOptions struct {
	// One is the ID of the session to end, Except of the one that goes on.
	One, Except string
}

// Sessions lists the sessions of a user, those used last first. The context of a request, behind the hook, tells which
// of them is the current one. The Store has to be a [store.SessionLister] under StrategyDatabase. Under StrategyJWT it
// has to be a [store.RecordStore], with Session.Revocation on. An error of type ErrMissingStoreMethods or
// ErrInvalidConfig names what is missing, any other is of the store.
func (a *Auth) Sessions(ctx context.Context, userID string) ([]SessionInfo, error) {
	if err := a.configured("Sessions"); err != nil {
		return nil, err
	}
	kept, err := a.sessions.ofUser(ctx, "Sessions", a.store.lister, userID)
	if err != nil {
		return nil, err
	}
	current := ""
	if v := VisitOf(ctx, a); v != nil {
		if s, err := v.Session(); err == nil && s != nil {
			current = s.ID
		}
	}
	now := a.sessions.now()
	var out []SessionInfo
	for _, s := range kept {
		if s.Expires.Before(now) {
			continue
		}
		info := SessionInfo{ID: publicID(string(s.Token)), Expires: s.Expires}
		info.Current = info.ID == current
		out = append(out, info)
	}
	slices.SortStableFunc(out, func(a, b SessionInfo) int { return b.Expires.Compare(a.Expires) })
	return out, nil
}

// EndSessions ends sessions of a user: all, one, or all but one. It returns how many ended. [ErrNotFound]: the ID of
// EndOptions is that of no session of this user. The cookies of a session that has ended are good no longer. Unless One
// is set, sign-ins of the user that wait behind a [Gate] end too. Requirements and further errors are those of
// [Auth.Sessions].
func (a *Auth) EndSessions(ctx context.Context, userID string, o EndOptions) (int, error) {
	if err := a.configured("EndSessions"); err != nil {
		return 0, err
	}
	if o.One != "" && o.Except != "" {
		return 0, errorf(ErrInvalidConfig, "EndSessions: both One and Except are set: set one of them")
	}
	if o.One == "" {
		if err := a.endPending(ctx, userID); err != nil {
			return 0, err
		}
	}
	kept, err := a.sessions.ofUser(ctx, "EndSessions", a.store.lister, userID)
	if err != nil {
		return 0, err
	}
	if id := o.One + o.Except; id != "" {
		named := func(s *store.Session) bool { return publicID(string(s.Token)) == id }
		if !slices.ContainsFunc(kept, named) {
			return 0, ErrNotFound
		}
		kept = slices.DeleteFunc(kept, func(s *store.Session) bool { return named(s) == (o.Except != "") })
	}
	ended := 0
	for _, s := range kept {
		_, err := guarded("Store.DeleteSession", func() (*store.Session, error) {
			return a.store.sessions.DeleteSession(ctx, string(s.Token))
		})
		if err != nil && !errors.Is(err, ErrNotFound) {
			return ended, errorf(ErrStore, "EndSessions: %w", err)
		}
		if err == nil {
			ended++
		}
	}
	return ended, nil
}

// ofUser lists the records of a user's sessions.
func (s *sessions) ofUser(
	ctx context.Context, method string, lister store.SessionLister, userID string,
) ([]*store.Session, error) {
	switch {
	case s.config.Strategy == StrategyJWT:
		return nil, errorf(ErrInvalidConfig, "%s: Session.Strategy keeps sessions in cookies, which cannot be listed or "+
			"ended: switch Session.Revocation on, or use StrategyDatabase", method)
	case lister == nil:
		return nil, errorf(ErrMissingStoreMethods, "%s needs a Store that is a store.SessionLister too "+
			"(package core/store)", method)
	}
	kept, err := guarded("Store.Sessions", func() ([]*store.Session, error) { return lister.Sessions(ctx, userID) })
	if err != nil {
		return nil, errorf(ErrStore, "%s: %w", method, err)
	}
	return kept, nil
}

// publicID is the ID of a session: a hash of what the store has of its token, or of the claim sid.
func publicID(kept string) string {
	sum := sha256.Sum256([]byte("latchkey session\x00" + kept))
	return base64.RawURLEncoding.EncodeToString(sum[:16])
}
