package core

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/netip"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/sessionid"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/once"
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
	AuthMethods []Method
	Provider    string
	// Expires is when the session ends if it is not used before then. Under StrategyJWT it is the value as of Seen.
	Expires time.Time
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
	v := VisitOf(ctx, a)
	if v == nil {
		return ""
	}
	s, err := v.Session()
	if err != nil || s == nil || s.UserID != userID {
		return ""
	}
	return s.ID
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
	notes, err := s.records.ofUser(ctx, userID)
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if row.Expires.Before(s.now()) {
			continue
		}
		info := SessionInfo{ID: publicID(string(row.Token))}
		if note, there := notes[info.ID]; there {
			info = note.info(info.ID)
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
	notes, err := s.records.ofUser(ctx, userID)
	for id, note := range notes {
		key, ok := sessionid.Parse(id)
		info := note.info(id)
		if ok && !info.Expires.Before(s.now()) && !s.revoked.Has(userID, key, note.Epoch) {
			list = append(list, listedSession{SessionInfo: info})
		}
	}
	return list, err
}

// recordSession is the kind of session records. The key is the session ID.
const recordSession = "session"

const (
	// seenEvery is the interval between two writes of the last use of a session.
	seenEvery = time.Hour
	// seenTimeout is the timeout of that write. At most maxSeenWrites writes run concurrently in one process. When all are
	// in use, the write is skipped.
	seenTimeout   = 5 * time.Second
	maxSeenWrites = 8
	// maxSeen is the number of sessions that a process remembers as recently written. If there are more, some are written
	// more often than seenEvery.
	maxSeen = 1 << 16
)

// sessionRecords stores a record of each session for the list of active sessions that users see. The session does not
// depend on it: it continues if the record is lost or cannot be written. A nil *sessionRecords stores nothing.
type sessionRecords struct {
	records         store.RecordStore
	now             func() time.Time
	log             *reporter
	recentlyWritten once.Memory[string, struct{}]
	slots           chan struct{}
}

func newSessionRecords(records store.RecordStore, now func() time.Time, log *reporter) *sessionRecords {
	if records == nil {
		return nil
	}
	r := &sessionRecords{records: records, now: now, log: log, slots: make(chan struct{}, maxSeenWrites)}
	r.recentlyWritten.Now, r.recentlyWritten.Max = now, maxSeen
	return r
}

// sessionNote is the content of a session record. Times are in Unix seconds.
type sessionNote struct {
	Made     int64    `json:"made"`
	Seen     int64    `json:"seen"`
	Ends     int64    `json:"ends"`
	Agent    string   `json:"agent,omitempty"`
	Peer     string   `json:"peer,omitempty"`
	Methods  []Method `json:"methods,omitempty"`
	Provider string   `json:"provider,omitempty"`
	Epoch    int64    `json:"ep,omitempty"`
}

// note returns the content of a session record. It is zero if there is no record, or if the record cannot be read; the
// latter is logged.
func (r *sessionRecords) note(ctx context.Context, id string) (note sessionNote) {
	if r == nil || id == "" {
		return note
	}
	record, err := r.records.Record(ctx, recordSession, id)
	if err == nil {
		err = json.Unmarshal(record.Value, &note)
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		r.log.failure(ctx, errorf(ErrStore, "read a session record: %w", err))
	}
	return note
}

// recordSignIn creates the record of a new session.
func (r *sessionRecords) recordSignIn(
	ctx context.Context, v *arrival, id *identity, who member, publicID string, note sessionNote,
) {
	note.Methods, note.Provider = id.proofs(), id.account.Provider
	r.add(ctx, v, publicID, who.user.ID, note)
}

// add creates the record of a new session, or of a session that continues under a new ID. In the second case note has
// the original start. A failure is logged; it does not fail the sign-in.
func (r *sessionRecords) add(ctx context.Context, v *arrival, id, userID string, note sessionNote) {
	if r == nil || id == "" {
		return
	}
	now := r.now()
	if note.Seen = now.Unix(); note.Made == 0 {
		note.Made, note.Agent = now.Unix(), printable(v.header("User-Agent"))
		if peer, _ := v.peer(v.r); peer.IsValid() {
			note.Peer = peer.String()
		}
	}
	value, err := json.Marshal(note)
	if err == nil {
		record := &store.Record{Kind: recordSession, Key: id, UserID: userID, Value: value, Expires: note.expires()}
		err = r.records.CreateRecord(ctx, record)
	}
	r.recentlyWritten.First(id, now.Add(seenEvery))
	if err != nil && !errors.Is(err, ErrNotFound) { // ErrNotFound: the user is not in the store
		v.log.failure(ctx, errorf(ErrStore, "create a session record: %w", err), v.attrs()...)
	}
}

// expires returns when the record can be deleted. The session may have been used and extended without a write for up to
// seenEvery.
func (n *sessionNote) expires() time.Time { return time.Unix(n.Ends, 0).Add(2 * seenEvery) }

// recordUse stores the last use of a session, at most once an hour and in the background.
func (r *sessionRecords) recordUse(ctx context.Context, id string, ends time.Time) {
	if r == nil || id == "" {
		return
	}
	if _, noted := r.recentlyWritten.Get(id); noted {
		return
	}
	select {
	case r.slots <- struct{}{}:
	default:
		return
	}
	now := r.now()
	if !r.recentlyWritten.First(id, now.Add(seenEvery)) {
		<-r.slots
		return
	}
	go func() {
		defer func() { <-r.slots }()
		ctx, end := context.WithTimeout(context.WithoutCancel(ctx), seenTimeout)
		defer end()
		err := r.touch(ctx, id, now, ends)
		if err != nil && !errors.Is(err, ErrNotFound) && !errors.Is(err, ErrConflict) {
			r.log.failure(ctx, errorf(ErrStore, "update the last use in a session record: %w", err))
		}
	}()
}

// touch writes the last use, unless another process has written it within the hour.
func (r *sessionRecords) touch(ctx context.Context, id string, now, ends time.Time) error {
	record, err := r.records.Record(ctx, recordSession, id)
	if err != nil {
		return err
	}
	var note sessionNote
	if err := json.Unmarshal(record.Value, &note); err != nil {
		return err
	}
	if now.Sub(time.Unix(note.Seen, 0)) < seenEvery {
		return nil
	}
	note.Seen, note.Ends = now.Unix(), ends.Unix()
	if record.Value, err = json.Marshal(note); err != nil {
		return err
	}
	record.Expires = note.expires()
	return r.records.UpdateRecord(ctx, record)
}

// remove deletes the record of an ended session. It returns the user of the session, or "" if the user is unknown.
func (r *sessionRecords) remove(ctx context.Context, id string) (userID string) {
	if r == nil || id == "" {
		return ""
	}
	record, err := r.records.DeleteRecord(ctx, recordSession, id)
	if err != nil && !errors.Is(err, ErrNotFound) {
		r.log.failure(ctx, errorf(ErrStore, "delete the record of an ended session: %w", err))
	}
	if record == nil {
		return ""
	}
	return record.UserID
}

// ofUser returns the records of a user's sessions by session ID.
func (r *sessionRecords) ofUser(ctx context.Context, userID string) (map[string]sessionNote, error) {
	if r == nil {
		return nil, nil
	}
	list, err := r.records.UserRecords(ctx, userID, recordSession)
	notes := make(map[string]sessionNote, len(list))
	for _, record := range list {
		var note sessionNote
		if json.Unmarshal(record.Value, &note) == nil {
			notes[record.Key] = note
		}
	}
	return notes, err
}

// removeAll deletes the records of a user's sessions. It keeps the record of except, if that is not empty.
func (r *sessionRecords) removeAll(ctx context.Context, userID, except string) error {
	if r == nil {
		return nil
	}
	if except == "" {
		_, err := r.records.DeleteUserRecords(ctx, userID, recordSession)
		return err
	}
	notes, err := r.ofUser(ctx, userID)
	for id := range notes {
		if id != except {
			r.remove(ctx, id)
		}
	}
	return err
}

// info returns the note in the form that the application receives.
func (n *sessionNote) info(id string) SessionInfo {
	info := SessionInfo{
		ID: id, CreatedAt: time.Unix(n.Made, 0), LastSeen: time.Unix(n.Seen, 0), Expires: time.Unix(n.Ends, 0),
		UserAgent: n.Agent, AuthMethods: slices.Clone(n.Methods), Provider: n.Provider,
	}
	info.Network, _ = netip.ParsePrefix(n.Peer)
	return info
}
