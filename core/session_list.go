package core

import (
	"context"
	"net/netip"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/sessionlist"
	"github.com/latchkey-go/latchkey/internal/cleantext"
	"github.com/latchkey-go/latchkey/internal/sessionrecord"
)

// SessionInfo is one active session in a user's list of sessions. Unknown fields are zero. For a session that
// Auth.js created, or that started before records were written, only ID and Expires are known.
type SessionInfo struct {
	// ID is the Session.ID of the session, for use in [EndOptions]. It is not a secret.
	ID string
	// Current is true for the session of the request whose context was passed to [Auth.Sessions].
	Current bool
	// CreatedAt is when the session started. LastSeen is when it was last used, accurate to one hour.
	CreatedAt, LastSeen time.Time
	// UserAgent is the User-Agent header of the sign-in: at most 256 printable ASCII characters, the others escaped. The
	// client can send any value.
	UserAgent string
	// Network is the network that the user signed in from, as in [LimitParams].
	Network netip.Prefix
	// AuthMethods are the authentication methods of the sign-in. Provider is the ID of the provider.
	AuthMethods []amr.Method
	Provider    string
	// Expires is when the session ends if it is not used before then. Under StrategyJWT it is the value as of LastSeen.
	Expires time.Time
	// Actor is the ID of the user who impersonates this one in the session, or empty.
	Actor string
}

// Sessions lists the active sessions of a user, most recently used first. If ctx is the context of a request with the
// request hook, the request's own session has Current set.
//
// Under StrategyDatabase the Store must implement [store.SessionLister]. ID and Expires are always set. The other
// fields are set for sessions that started while a plugin or Session.Revocation tracked authentication; all of them are
// set only if the Store also implements [store.RecordStore]. Under StrategyJWT the list contains the sessions that
// started while Session.Revocation was on, of users in the Store.
//
// An error of type ErrMissingStoreMethods or ErrInvalidConfig names the missing requirement. Any other error is from
// the Store.
func (a *Auth) Sessions(ctx context.Context, userID string) ([]SessionInfo, error) {
	if err := configured(a, "Sessions"); err != nil {
		return nil, err
	}
	list, err := a.sessions.list(ctx, "Sessions", userID)
	if err != nil {
		return nil, err
	}
	out, current := make([]SessionInfo, len(list)), currentID(ctx, a, userID)
	for i := range list {
		out[i] = SessionInfo(list[i].Info)
		out[i].Current = current != "" && out[i].ID == current
	}
	return out, nil
}

// currentID returns the ID of the session of the request with this context. It is empty if there is none, or if it
// belongs to another user.
func currentID(ctx context.Context, a *Auth, userID string) string {
	if v, ok := ctx.Value(visitOf{a}).(interface{ Session() (*Session, error) }); ok {
		if s, err := v.Session(); err == nil && s != nil && s.UserID == userID {
			return s.ID
		}
	}
	return ""
}

// list returns the sessions of a user, most recently used first. method is the exported method for error texts.
func (s *sessions) list(ctx context.Context, method, userID string) ([]sessionlist.Session, error) {
	switch {
	case s.all.CanEnd():
	case s.config.Strategy == StrategyDatabase:
		return nil, errorf(ErrMissingStoreMethods, "%s requires a Store that implements store.SessionLister "+
			"(package core/store)", method)
	default:
		return nil, errorf(ErrInvalidConfig, "%s: sessions under StrategyJWT can be listed and ended only if "+
			"Session.Revocation is on: switch it on, or use StrategyDatabase", method)
	}
	list, err := s.all.List(ctx, userID)
	if err != nil {
		return nil, errorf(ErrStore, "%s: %w", method, err)
	}
	return list, nil
}

// recordSignIn creates the record of a new session. note says when the session ends.
func (s *sessions) recordSignIn(
	ctx context.Context, v *arrival, id *identity, who member, publicID string, note sessionrecord.Note,
) {
	note.Methods, note.Provider, note.Actor = audit.Texts(id.proofs()), id.account.Provider, id.actor.Subject
	s.addRecord(ctx, v, publicID, who.user.ID, note)
}

// addRecord creates the record of a new session, or of a session that continues under a new ID. In the second case note
// has the original start. A failure is logged; it does not fail the sign-in.
func (s *sessions) addRecord(ctx context.Context, v *arrival, id, userID string, note sessionrecord.Note) {
	if note.Made == 0 {
		note.Agent = cleantext.Escaped(v.header("User-Agent"))
		if peer, _ := v.client(); peer.IsValid() {
			note.Peer = peer.String()
		}
	}
	if err := s.records.Add(ctx, id, userID, note); err != nil {
		v.log.failure(ctx, errorf(ErrStore, "create a session record: %w", err), v.attrs()...)
	}
}
