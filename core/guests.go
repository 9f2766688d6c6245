package core

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/flowstate"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// The kinds of records of guests. The key of both is the ID of the guest. A record of kindGuestWork belongs to no user,
// because it is deleted after the guest.
const (
	kindGuest     = "guest"
	kindGuestWork = "guest-work"
)

// guestPhase is the phase of a guest's record. It never returns to guestActive.
type guestPhase string

const (
	guestActive   guestPhase = ""
	guestUpgraded guestPhase = "upgraded" // the user has a sign-in method now
	guestMerging  guestPhase = "merging"  // the guest's data moves to another user
	guestExpired  guestPhase = "expired"  // the guest is being deleted
)

// guestNote is the content of a guest's record, in Unix seconds.
type guestNote struct {
	Made  int64      `json:"made"`
	Phase guestPhase `json:"phase,omitempty"`
	At    int64      `json:"at,omitempty"` // when Phase was set
}

// guestWork is what remains to do after a sign-in of a guest. If Existing is empty, the guest was upgraded, and the
// sessions of the guest must end. Otherwise the guest is merged into the user Existing and deleted.
type guestWork struct {
	Existing string `json:"existing,omitempty"`
	Tries    int    `json:"tries,omitempty"`
	// Next is the time of the next attempt, in Unix seconds. Until then another process may be at work.
	Next int64 `json:"next"`
}

const (
	// upgradedFor is how long the record of an upgraded guest is stored: longer than any request that has started with a
	// session of the guest, and than Revocation.Every.
	upgradedFor = time.Hour
	// mergeTime is the maximum time of a merge within a sign-in. mergeLease is the time until another process tries.
	mergeTime  = 10 * time.Second
	mergeLease = 2 * time.Minute
	// maxMergePause is the maximum time between two attempts of a merge.
	maxMergePause = 6 * time.Hour
	// guestPages is the maximum number of pages of guests that one run of the clean-up reads.
	guestPages    = 20
	guestPageSize = 100
)

// GuestOptions configures [PluginHost.AllowGuests].
type GuestOptions struct {
	// Action is the path of the plugin's POST action that creates a guest. The sign-in page has a button for it.
	Action string
	// Actions are the names of actions of other plugins that guests may use although they require a session.
	Actions []string
	// MaxAge is the age after which a guest without a session is deleted. It must be positive.
	MaxAge time.Duration
	// Delete, if not nil, deletes the application's data about a guest before the guest is deleted because of MaxAge. It
	// is called again after an error or an interruption.
	Delete func(ctx context.Context, guest *User) error
}

// guests manages users without a sign-in method. A nil *guests has none.
type guests struct {
	GuestOptions
	plugin string
	auth   *Auth
	merge  func(ctx context.Context, guest, existing *User) error
	now    func() time.Time
	cursor string // of the next run of removeOld, which never runs twice at a time
}

// errGuest is the error of a guard for users who are no guests.
var errGuest = clientError(errors.New("the user is a guest"))

// guestProblem is the response to a guest where an account is required.
func guestProblem() *Problem {
	return &Problem{
		Status: http.StatusForbidden, Code: "guest", unlogged: true,
		Text: ui.Text{Key: "problem.guest", English: "Sign in first. A guest cannot do this."},
	}
}

// find returns the record of a guest. It is nil if the user was never a guest.
func (g *guests) find(
	ctx context.Context, records store.RecordStore, userID string,
) (*store.Record, *guestNote, error) {
	if g == nil || records == nil || !store.IsRecordName(kindGuest, userID) {
		return nil, nil, nil
	}
	r, err := records.Record(ctx, kindGuest, userID)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, nil, nil
	case err != nil:
		return nil, nil, err
	}
	note := new(guestNote)
	if err := json.Unmarshal(r.Value, note); err != nil {
		return nil, nil, fmt.Errorf("the record of guest %s is malformed: %w", userID, err)
	}
	return r, note, nil
}

// guestSession describes the user of a session.
type guestSession int

const (
	// sessionOfUser is the session of a user who is no guest.
	sessionOfUser guestSession = iota
	// sessionOfGuest is the session of a guest.
	sessionOfGuest
	// sessionOfFormerGuest is a session from before the guest was upgraded, merged or deleted. It has ended, or is about
	// to end.
	sessionOfFormerGuest
)

// methodGuest is the method of the sessions of guests. Such a session never belongs to the user that the guest has
// become: those sessions have the methods of a sign-in.
const methodGuest amr.Method = "guest"

// isGuest reports whether the identity is that of a new guest.
func (id *identity) isGuest() bool { return slices.Contains(id.methods, methodGuest) }

// of returns the kind of a session with these methods. It reads the store only for the session of a guest.
func (g *guests) of(
	ctx context.Context, records store.RecordStore, userID string, methods []amr.Method,
) (guestSession, error) {
	if g == nil || !slices.Contains(methods, methodGuest) {
		return sessionOfUser, nil
	}
	_, note, err := g.find(ctx, records, userID)
	if err != nil || note == nil || note.Phase != guestActive {
		return sessionOfFormerGuest, err
	}
	return sessionOfGuest, nil
}

// ofRequest returns the kind of the session of a request, and the ID of its user.
func (g *guests) ofRequest(ctx context.Context, r requestSession) (guestSession, string, error) {
	if g == nil {
		return sessionOfUser, "", nil
	}
	current, err := r.current(ctx)
	if err != nil || current == nil || current.user.ID == "" {
		return sessionOfUser, "", err
	}
	what, err := g.of(ctx, g.auth.store.records, current.user.ID, current.methods)
	if err != nil {
		err = errorf(ErrStore, "find out whether the user is a guest: %w", err)
	}
	return what, current.user.ID, err
}

// identify sets the guest of a sign-in. A flow that was not started under the guest's session neither upgrades nor
// merges the guest: an attacker may have planted the session.
func (g *guests) identify(ctx context.Context, r requestSession, id *identity) error {
	what, userID, err := g.ofRequest(ctx, r)
	if err != nil {
		return err
	}
	if id.asGuest = what != sessionOfUser; what == sessionOfGuest && id.started == flowstate.SameSession {
		id.guest = userID
	}
	return nil
}

// withoutGuest returns the session user that the rules of linking see: none if the session is that of a guest. guest
// reports that the sign-in may upgrade them.
func (w *writer) withoutGuest(ctx context.Context, id *identity, signedIn sessionUser) (sessionUser, bool, error) {
	g := w.plugins.guests
	if g == nil || signedIn.user == nil {
		return signedIn, false, nil
	}
	what, err := g.of(ctx, w.tx.records, signedIn.user.ID, signedIn.methods)
	if err != nil || what == sessionOfUser {
		return signedIn, false, err
	}
	return sessionUser{token: signedIn.token}, what == sessionOfGuest && id.guest == signedIn.user.ID, nil
}

func (g *guests) upgrade(ctx context.Context, in stores, guestID string, user *User) (*User, error) {
	r, note, err := g.find(ctx, in.records, guestID)
	switch {
	case err != nil:
		return nil, err
	case note == nil || note.Phase != guestActive:
		return nil, ErrNotFound
	}
	if err := g.change(ctx, in.records, r, note, guestUpgraded); err != nil {
		return nil, err
	}
	upgraded, err := in.User(ctx, guestID)
	if err != nil {
		return nil, err
	}
	upgraded = filledIn(upgraded, user)
	if upgraded, err = in.UpdateUser(ctx, upgraded); err != nil {
		return nil, err
	}
	if in.lister != nil {
		if _, err := in.lister.DeleteSessions(ctx, guestID); err != nil {
			return nil, err
		}
	}
	_, err = g.addWork(ctx, in.records, guestID, guestWork{})
	return upgraded, err
}

// filledIn returns the guest with the data of a sign-in. It does not overwrite the data that the application has set.
func filledIn(guest, user *User) *User {
	u := guest.Clone()
	u.Email, u.EmailVerified = user.Email, user.EmailVerified
	u.Name, u.Image = or(u.Name, user.Name), or(u.Image, user.Image)
	u.Null = 0
	for null, text := range map[store.Nulls]string{
		store.NullEmail: u.Email, store.NullName: u.Name, store.NullImage: u.Image,
	} {
		if text == "" {
			u.Null |= (guest.Null | user.Null) & null
		}
	}
	for name, value := range user.Extra {
		if _, taken := u.Extra[name]; !taken {
			if u.Extra == nil {
				u.Extra = Members{}
			}
			u.Extra[name] = value
		}
	}
	return u
}

// change sets the phase of a guest's record. It returns ErrConflict if another request has changed the record.
func (g *guests) change(
	ctx context.Context, records store.RecordStore, r *store.Record, note *guestNote, to guestPhase,
) (err error) {
	note.Phase, note.At = to, g.now().Unix()
	if r.Value, err = json.Marshal(note); err != nil {
		return err
	}
	if to == guestUpgraded {
		r.Expires = g.now().Add(upgradedFor)
	}
	err = records.UpdateRecord(ctx, r)
	if errors.Is(err, ErrNotFound) { // deleted in the meantime
		err = ErrConflict
	}
	return err
}

// addWork stores what remains to do. Until the lease is over, only this request works on it.
func (g *guests) addWork(
	ctx context.Context, records store.RecordStore, guestID string, work guestWork,
) (*store.Record, error) {
	work.Next = g.now().Add(mergeLease).Unix()
	value, err := json.Marshal(work)
	if err != nil {
		return nil, err
	}
	r := &store.Record{Kind: kindGuestWork, Key: guestID, Value: value}
	return r, records.CreateRecord(ctx, r)
}

// upgraded ends the sessions and credentials of a guest who has just been upgraded, before a new session exists. If it
// is interrupted, the task ends all sessions of the user.
func (g *guests) upgraded(ctx context.Context, v *arrival, userID string) error {
	a := g.auth
	err := a.plugins.endPending(ctx, userID)
	for _, end := range a.plugins.enders {
		if err == nil {
			err = guard("OnEndSessions", func() error { return end(ctx, userID) })
		}
	}
	if err == nil && a.sessions.config.Strategy == StrategyJWT {
		err = a.sessions.endUser(ctx, userID, "")
	}
	if err == nil {
		a.sessions.exchanges.Erase("", userID)
		err = g.done(ctx, userID)
	}
	if err != nil {
		return errorf(ErrStore, "end the sessions of a guest: %w", err)
	}
	v.decided(ctx, audit.SessionsEnded, audit.ReasonProved, userID)
	return nil
}

// done deletes the record of finished work.
func (g *guests) done(ctx context.Context, guestID string) error {
	_, err := g.auth.store.records.DeleteRecord(ctx, kindGuestWork, guestID)
	if errors.Is(err, ErrNotFound) {
		return nil
	}
	return err
}

// mergeInto merges a guest into the user who has just signed in. First it stores that, in one transaction; only an
// error of that step fails the sign-in. If the rest fails, the task tries again. Of concurrent sign-ins one merges the
// guest.
func (g *guests) mergeInto(ctx context.Context, v *arrival, guestID, userID string) error {
	var r *store.Record
	work := guestWork{Existing: userID}
	err := g.auth.store.tx.InTransaction(ctx, func(ctx context.Context, tx Store) error {
		in := newStores(tx, g.auth.store.watch, 0)
		kept, note, err := g.find(ctx, in.records, guestID)
		switch {
		case err != nil:
			return err
		case note == nil || note.Phase != guestActive:
			return ErrConflict
		}
		if err := g.change(ctx, in.records, kept, note, guestMerging); err != nil {
			return err
		}
		r, err = g.addWork(ctx, in.records, guestID, work)
		return err
	})
	switch {
	case errors.Is(err, ErrConflict): // another sign-in was first
		return nil
	case err != nil:
		return errorf(ErrStore, "store that a guest is merged: %w", err)
	}
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), mergeTime)
	defer end()
	if err := g.finish(ctx, r.Key, work); err != nil {
		v.log.failure(ctx, asError(err, ErrStore, serverError), v.attrs()...)
	}
	return nil
}

// finish does the work of a record, and deletes the record. It is idempotent.
func (g *guests) finish(ctx context.Context, guestID string, work guestWork) error {
	a := g.auth
	guest, err := a.store.User(ctx, guestID)
	switch {
	case errors.Is(err, ErrNotFound):
		return g.done(ctx, guestID)
	case err != nil:
		return errorf(ErrStore, "read a guest: %w", err)
	}
	if _, err := a.EndSessions(ctx, guestID, EndOptions{}); err != nil {
		return err
	}
	if work.Existing == "" {
		return g.done(ctx, guestID)
	}
	existing, err := a.store.User(ctx, work.Existing)
	switch {
	case errors.Is(err, ErrNotFound): // deleted in the meantime: no user is left to merge the guest into
	case err != nil:
		return errorf(ErrStore, "read the user of a merge: %w", err)
	case g.merge != nil:
		err := guard("Callbacks.Merge", func() error { return g.merge(ctx, guest.Clone(), existing.Clone()) })
		if err != nil {
			return errorf(ErrAuth, "Callbacks.Merge, which is called again later: %w", err)
		}
	}
	if err := a.store.deleter.DeleteUser(ctx, guestID); err != nil && !errors.Is(err, ErrNotFound) {
		return errorf(ErrStore, "delete a guest: %w", err)
	}
	a.site.audit.Note(ctx, audit.Event{
		Name: audit.GuestMerged, Outcome: audit.OK, UserID: work.Existing, ActorID: guestID,
	})
	if err := g.done(ctx, guestID); err != nil {
		return errorf(ErrStore, "delete the record of a merge: %w", err)
	}
	return nil
}

// run is the task: it continues interrupted work and deletes old guests.
func (g *guests) run(ctx context.Context) error {
	return errors.Join(g.finishAll(ctx), g.removeOld(ctx))
}

// finishAll continues the work whose time has come.
func (g *guests) finishAll(ctx context.Context) (all error) {
	for cursor := ""; ; {
		page, next, err := g.auth.store.listing.ListRecords(ctx, kindGuestWork, "", cursor, guestPageSize)
		if err != nil {
			return errors.Join(all, errorf(ErrStore, "list the merges of guests: %w", err))
		}
		for _, r := range page {
			all = errors.Join(all, g.tryAgain(ctx, r))
		}
		if next == "" || ctx.Err() != nil {
			return all
		}
		cursor = next
	}
}

// tryAgain finishes the work of a record, unless another process has it. The pause doubles with each attempt.
func (g *guests) tryAgain(ctx context.Context, r *store.Record) error {
	var work guestWork
	if err := json.Unmarshal(r.Value, &work); err != nil {
		return fmt.Errorf("the record of the merge of guest %s is malformed: %w", r.Key, err)
	}
	now := g.now()
	if now.Unix() < work.Next {
		return nil
	}
	work.Tries++
	work.Next = now.Add(mergePause(work.Tries)).Unix()
	var err error
	if r.Value, err = json.Marshal(work); err != nil {
		return err
	}
	err = g.auth.store.records.UpdateRecord(ctx, r)
	switch {
	case errors.Is(err, ErrConflict), errors.Is(err, ErrNotFound): // another process
		return nil
	case err != nil:
		return errorf(ErrStore, "start the merge of a guest: %w", err)
	}
	ctx, end := context.WithTimeout(ctx, mergeTime)
	defer end()
	return g.finish(ctx, r.Key, work)
}

// mergePause returns the pause after an attempt: at least mergeLease, so that no two processes are at work.
func mergePause(tries int) time.Duration {
	return min(mergeLease<<min(tries, 10), maxMergePause)
}

// removeOld deletes guests that are older than MaxAge and have no session. One run reads a limited number of guests;
// the next one continues.
func (g *guests) removeOld(ctx context.Context) (all error) {
	for range guestPages {
		page, next, err := g.auth.store.listing.ListRecords(ctx, kindGuest, "", g.cursor, guestPageSize)
		if err != nil {
			g.cursor = ""
			return errors.Join(all, errorf(ErrStore, "list guests: %w", err))
		}
		for _, r := range page {
			all = errors.Join(all, g.removeIfOld(ctx, r))
		}
		if g.cursor = next; next == "" || ctx.Err() != nil {
			break
		}
	}
	return all
}

// removeIfOld deletes a guest that is too old and has no session, or whose deletion was interrupted.
func (g *guests) removeIfOld(ctx context.Context, r *store.Record) error {
	a := g.auth
	var note guestNote
	if err := json.Unmarshal(r.Value, &note); err != nil {
		return fmt.Errorf("the record of guest %s is malformed: %w", r.Key, err)
	}
	switch {
	case note.Phase == guestExpired:
	case note.Phase != guestActive, g.now().Sub(time.Unix(note.Made, 0)) < g.MaxAge:
		return nil
	default:
		sessions, err := a.Sessions(ctx, r.UserID)
		if err != nil || len(sessions) > 0 {
			return err
		}
		err = g.change(ctx, a.store.records, r, &note, guestExpired)
		if errors.Is(err, ErrConflict) {
			return nil
		}
		if err != nil {
			return errorf(ErrStore, "delete an old guest: %w", err)
		}
	}
	user, err := a.store.User(ctx, r.UserID)
	switch {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return errorf(ErrStore, "read an old guest: %w", err)
	}
	if g.Delete != nil {
		if err := guard("GuestOptions.Delete", func() error { return g.Delete(ctx, user.Clone()) }); err != nil {
			return errorf(ErrAuth, "delete the data of an old guest, which is tried again: %w", err)
		}
	}
	switch err := a.store.deleter.DeleteUser(ctx, user.ID); {
	case errors.Is(err, ErrNotFound):
		return nil
	case err != nil:
		return errorf(ErrStore, "delete an old guest: %w", err)
	}
	a.site.audit.Note(ctx, audit.Event{
		Name: audit.UserDeleted, Outcome: audit.OK, Reason: audit.ReasonExpired, UserID: user.ID,
	})
	return nil
}

// refuse returns errGuest if a guest calls an action that requires an account: an action of another plugin that
// requires a session or is for programs, and that is not in GuestOptions.Actions.
func (g *guests) refuse(ctx context.Context, c *ActionRequest, a *partAction) error {
	if g == nil || a.plugin == "" || a.plugin == g.plugin || len(a.Require) == 0 && !a.Programs || a.NoCookies ||
		slices.Contains(g.Actions, a.Name) {
		return nil
	}
	session, err := c.Session(ctx)
	if err != nil || session == nil {
		return err
	}
	if slices.Contains(session.Methods, methodGuest) {
		return errGuest
	}
	return nil
}

// guestAction returns the URL of the action that creates a guest, or "".
func (g *guests) guestAction(c *call) string {
	if g == nil {
		return ""
	}
	return c.base + "/" + strings.TrimPrefix(g.Action, "/")
}
