package core

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/internal/cleantext"
	"github.com/latchkey-go/latchkey/internal/sessionid"
	"github.com/latchkey-go/latchkey/internal/sessionrecord"
	"github.com/latchkey-go/latchkey/internal/storedtoken"
)

// SessionInfo is one active session in a user's list of sessions. Unknown fields are zero. Only ID and Expires are
// known of sessions that Auth.js created, or that started before records were written.
type SessionInfo struct {
	// ID is the Session.ID of the session, for use in [EndOptions]. It is not a secret.
	ID string
	// Current is true for the session of the request whose context was passed to [Auth.Sessions].
	Current bool
	// CreatedAt is when the session started. Seen is when it was last used, accurate to one hour.
	CreatedAt, LastSeen time.Time
	// UserAgent is the User-Agent header of the sign-in: at most 256 printable ASCII characters, the others escaped. The
	// client can send any value.
	UserAgent string
	// Network is the network that the user signed in from, as in [LimitParams].
	Network netip.Prefix
	// AuthMethods are the authentication methods of the sign-in. Provider is the ID of the provider.
	AuthMethods []amr.Method
	Provider    string
	// Expires is when the session ends if it is not used before then. Under StrategyJWT it is the value as of Seen.
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
		out[i] = list[i].SessionInfo
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

// listedSession is a session in a list. kept is its token as the store contains it, and empty under StrategyJWT.
type listedSession struct {
	SessionInfo
	kept string
}

// list returns the sessions of a user, most recently used first. method is the exported method for error texts.
func (s *sessions) list(ctx context.Context, method, userID string) ([]listedSession, error) {
	var list []listedSession
	var err error
	switch {
	case s.config.Strategy == StrategyDatabase && s.lister == nil:
		return nil, errorf(ErrMissingStoreMethods, "%s requires a Store that implements store.SessionLister "+
			"(package core/store)", method)
	case s.config.Strategy == StrategyDatabase:
		list, err = s.listStored(ctx, userID)
	case s.revoked == nil:
		return nil, errorf(ErrInvalidConfig, "%s: sessions under StrategyJWT can be listed and ended only if "+
			"Session.Revocation is on: switch it on, or use StrategyDatabase", method)
	default:
		list, err = s.listJWT(ctx, userID)
	}
	if err != nil {
		return nil, errorf(ErrStore, "%s: %w", method, err)
	}
	slices.SortStableFunc(list, func(a, b listedSession) int {
		return cmp.Or(b.LastSeen.Compare(a.LastSeen), b.Expires.Compare(a.Expires))
	})
	return list, nil
}

func (s *sessions) listStored(ctx context.Context, userID string) (list []listedSession, err error) {
	rows, err := s.lister.Sessions(ctx, userID)
	if err != nil {
		return nil, err
	}
	notes, err := s.records.OfUser(ctx, userID)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Expires.Before(s.now()) {
			continue
		}
		info := SessionInfo{ID: publicID(string(row.Token))}
		if note, there := notes[info.ID]; there {
			info = infoOf(info.ID, note)
		} else {
			facts, _ := storedtoken.Read(string(row.Token)) // found only if the store has the token unhashed
			info.CreatedAt, info.AuthMethods = facts.Start, methodsOf(facts.Methods)
		}
		info.Expires = row.Expires
		list = append(list, listedSession{info, string(row.Token)})
	}
	return list, nil
}

// listJWT returns the sessions that have a record. It leaves out a session that has ended but still has a record.
func (s *sessions) listJWT(ctx context.Context, userID string) (list []listedSession, err error) {
	if err := s.revoked.Refresh(ctx); err != nil {
		return nil, err
	}
	notes, err := s.records.OfUser(ctx, userID)
	for id, note := range notes {
		key, ok := sessionid.Parse(id)
		info := infoOf(id, note)
		if ok && !info.Expires.Before(s.now()) && !s.revoked.Has(userID, key, note.Epoch) {
			list = append(list, listedSession{SessionInfo: info})
		}
	}
	return list, err
}

// infoOf returns a record in the form that the application receives.
func infoOf(id string, n sessionrecord.Note) SessionInfo {
	info := SessionInfo{
		ID: id, CreatedAt: time.Unix(n.Made, 0), LastSeen: time.Unix(n.Seen, 0), Expires: time.Unix(n.Ends, 0),
		UserAgent: n.Agent, AuthMethods: methodsOf(n.Methods), Provider: n.Provider, Actor: n.Actor,
	}
	info.Network, _ = netip.ParsePrefix(n.Peer)
	return info
}

// recordSignIn creates the record of a new session.
func (s *sessions) recordSignIn(
	ctx context.Context, v *arrival, id *identity, who member, publicID string, note sessionrecord.Note,
) {
	note.Methods, note.Provider = audit.Texts(id.proofs()), id.account.Provider
	s.addRecord(ctx, v, publicID, who.user.ID, note)
}

// addRecord creates the record of a new session, or of a session that continues under a new ID. In the second case note
// has the original start. A failure is logged; it does not fail the sign-in.
func (s *sessions) addRecord(ctx context.Context, v *arrival, id, userID string, note sessionrecord.Note) {
	if note.Made == 0 {
		note.Agent = cleantext.Escaped(v.header("User-Agent"))
		if peer, _ := v.peer(v.r); peer.IsValid() {
			note.Peer = peer.String()
		}
	}
	if err := s.records.Add(ctx, id, userID, note); err != nil {
		v.log.failure(ctx, errorf(ErrStore, "create a session record: %w", err), v.attrs()...)
	}
}

func methodsOf(texts []string) (methods []amr.Method) {
	for _, m := range texts {
		methods = append(methods, amr.Method(m))
	}
	return methods
}
