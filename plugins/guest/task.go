package guest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/panics"
)

const (
	// maxPages is the maximum number of pages of guests that one run of the clean-up reads.
	maxPages = 20
	pageSize = 100
)

// run is the task: it continues interrupted work and deletes old guests.
func (g *Guests) run(ctx context.Context) error {
	return errors.Join(g.finishAll(ctx), g.removeOld(ctx))
}

// call calls a function of the application. A panic becomes an error.
func call(name string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = panics.New(name, v)
		}
	}()
	return f()
}

// finish does the work of a record, and deletes the record. It is idempotent.
func (g *Guests) finish(ctx context.Context, guestID string, w work) error {
	h := g.host
	guest, err := h.Store.User(ctx, guestID)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return g.done(ctx, guestID)
	case err != nil:
		return fmt.Errorf("read a guest: %w", err)
	}
	if _, err := h.Auth.EndSessions(ctx, guestID, core.EndOptions{}); err != nil {
		return err
	}
	if w.Existing == "" {
		return g.done(ctx, guestID)
	}
	existing, err := h.Store.User(ctx, w.Existing)
	switch {
	case errors.Is(err, core.ErrNotFound): // deleted in the meantime: no user is left to merge the guest into
	case err != nil:
		return fmt.Errorf("read the user of a merge: %w", err)
	case h.Merge != nil:
		err := call("Callbacks.Merge", func() error { return h.Merge(ctx, guest.Clone(), existing.Clone()) })
		if err != nil {
			return fmt.Errorf("Callbacks.Merge, which is called again later: %w", err)
		}
	}
	event := audit.Event{Name: audit.GuestMerged, Outcome: audit.OK, UserID: w.Existing, ActorID: guestID}
	if err := g.delete(ctx, guestID, event); err != nil {
		return fmt.Errorf("delete a guest: %w", err)
	}
	if err := g.done(ctx, guestID); err != nil {
		return fmt.Errorf("delete the record of a merge: %w", err)
	}
	return nil
}

// delete deletes a guest and reports it. If another process was first, that one reports it.
func (g *Guests) delete(ctx context.Context, guestID string, e audit.Event) error {
	err := g.host.AuditChange(ctx, e, func(ctx context.Context) error {
		return g.host.UserDeleter.DeleteUser(ctx, guestID)
	})
	if errors.Is(err, core.ErrNotFound) {
		return nil
	}
	return err
}

// finishAll continues the work whose time has come.
func (g *Guests) finishAll(ctx context.Context) (all error) {
	for cursor := ""; ; {
		page, next, err := g.host.RecordLister.ListRecords(ctx, kindWork, "", cursor, pageSize)
		if err != nil {
			return errors.Join(all, fmt.Errorf("list the merges of guests: %w", err))
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
func (g *Guests) tryAgain(ctx context.Context, r *store.Record) error {
	var w work
	if err := json.Unmarshal(r.Value, &w); err != nil {
		return fmt.Errorf("the record of the merge of guest %s is malformed: %w", r.Key, err)
	}
	now := g.host.Now()
	if now.Unix() < w.Next {
		return nil
	}
	w.Tries++
	w.Next = now.Add(mergePause(w.Tries)).Unix()
	var err error
	if r.Value, err = json.Marshal(w); err != nil {
		return err
	}
	err = g.host.Records().UpdateRecord(ctx, r)
	switch {
	case errors.Is(err, core.ErrConflict), errors.Is(err, core.ErrNotFound): // another process
		return nil
	case err != nil:
		return fmt.Errorf("start the merge of a guest: %w", err)
	}
	ctx, end := context.WithTimeout(ctx, mergeTime)
	defer end()
	return g.finish(ctx, r.Key, w)
}

// resume adds the record of the work of a merge, if the process ended before it was stored.
func (g *Guests) resume(ctx context.Context, guestID string, n *note) error {
	if g.host.Transactor != nil { // both are stored together
		return nil
	}
	err := g.addWork(ctx, g.host.Records(), guestID, work{Existing: n.Existing})
	if errors.Is(err, core.ErrConflict) { // the usual case: there is one
		return nil
	}
	return err
}

// removeOld deletes guests that are older than MaxAge and have no session. One run reads a limited number of guests;
// the next one continues.
func (g *Guests) removeOld(ctx context.Context) (all error) {
	for range maxPages {
		page, next, err := g.host.RecordLister.ListRecords(ctx, kindGuest, "", g.cursor, pageSize)
		if err != nil {
			g.cursor = ""
			return errors.Join(all, fmt.Errorf("list guests: %w", err))
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
func (g *Guests) removeIfOld(ctx context.Context, r *store.Record) error {
	h := g.host
	var n note
	if err := json.Unmarshal(r.Value, &n); err != nil {
		return fmt.Errorf("the record of guest %s is malformed: %w", r.Key, err)
	}
	switch {
	case n.Phase == expired:
	case n.Phase == merging:
		return g.resume(ctx, r.Key, &n)
	case n.Phase != active, h.Now().Sub(time.Unix(n.Made, 0)) < g.options.MaxAge:
		return nil
	default:
		sessions, err := h.Auth.Sessions(ctx, r.UserID)
		if err != nil || len(sessions) > 0 {
			return err
		}
		err = g.change(ctx, h.Records(), r, &n, expired)
		if errors.Is(err, core.ErrConflict) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("delete an old guest: %w", err)
		}
	}
	user, err := h.Store.User(ctx, r.UserID)
	switch {
	case errors.Is(err, core.ErrNotFound):
		return nil
	case err != nil:
		return fmt.Errorf("read an old guest: %w", err)
	}
	if g.options.Delete != nil {
		if err := call("Options.Delete", func() error { return g.options.Delete(ctx, user.Clone()) }); err != nil {
			return fmt.Errorf("delete the data of an old guest, which is tried again: %w", err)
		}
	}
	event := audit.Event{Name: audit.UserDeleted, Outcome: audit.OK, Reason: audit.ReasonExpired, UserID: user.ID}
	if err := g.delete(ctx, user.ID, event); err != nil {
		return fmt.Errorf("delete an old guest: %w", err)
	}
	return nil
}
