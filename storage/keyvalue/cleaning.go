package keyvalue

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// roundPages is the number of further pages of sessions, of tokens and of records that DeleteExpired checks in one
// call.
const roundPages = 10

// expiring are the records of one kind that expire.
type expiring struct{ kind, set string }

// The kinds of records that expire.
var (
	expiringSessions = expiring{"expires", allSessions}
	expiringTokens   = expiring{"token", allTokens}
	expiringRecords  = expiring{"record", allRecords}
)

var allExpiring = []expiring{expiringSessions, expiringTokens, expiringRecords}

// endForm is a time format with the order of times.
const endForm = "2006-01-02T15:04:05.000000000Z"

// end returns the name in the set of ends for a record that expires at this time. If a session or record is extended,
// its name stays, and DeleteExpired replaces it when that time has come.
func (of expiring) end(at time.Time, name string) string {
	return at.UTC().Format(endForm) + "/" + of.kind + "/" + name
}

// endingOf parses a name of the set of ends. ok is false if this package did not write it.
func endingOf(end string) (at time.Time, of expiring, name string, ok bool) {
	parts := strings.SplitN(end, "/", 3)
	if len(parts) < 3 {
		return at, of, "", false
	}
	at, err := time.Parse(endForm, parts[0])
	for _, of = range allExpiring {
		if of.kind == parts[1] {
			return at, of, parts[2], err == nil
		}
	}
	return at, of, "", false
}

// DeleteExpired implements [store.Cleaner]. An ordered set, the expiry set, contains sessions, tokens and records
// by the time when they expire. DeleteExpired works in three steps:
//
//  1. It deletes what has expired according to the expiry set, a few entries with each commit.
//  2. It reads a thousand sessions, tokens and records each, starting after those of the previous call, and corrects
//     the expiry set: earlier versions of this package had none, and a session can expire earlier than before. The
//     first call reads all of them; if ctx ends, the next call continues there.
//  3. It completes interrupted work: it deletes the rest of deleted users, and updates outdated copies of users.
//
// If ctx ends, the entries left in the expiry set are counted, including sessions that were extended since. Until the
// set is complete, there may be more.
//
// Within a transaction it does only the first step, in one commit.
func (s *Store) DeleteExpired(ctx context.Context, now time.Time) (n int, err error) {
	n, err = s.deleteExpired(ctx, now)
	if s.tx == nil {
		err = store.WithLeft(ctx, err, func(ctx context.Context) (int, bool, error) { return s.left(ctx, now) })
	}
	return n, err
}

// left counts the ends before now. more reports whether it stopped counting, or whether some records are not in the set
// of ends yet.
func (s *Store) left(ctx context.Context, now time.Time) (rows int, more bool, err error) {
	const page = 1000
	v := s.db.View()
	places, err := v.peek(ctx, key("cleaned", allSessions), key("cleaned", allTokens), key("cleaned", allRecords))
	if err != nil {
		return 0, false, err
	}
	for _, at := range places {
		began, _ := decode[place](at.Text) // a missing or unreadable place means that no round is complete
		more = more || !began.Whole
	}
	limit := now.UTC().Format(endForm)
	err = v.pages(ctx, allEnds, page, func(ends []string) error {
		due, _ := slices.BinarySearch(ends, limit)
		rows += due
		if rows >= store.MostLeft || due < len(ends) {
			return errLast
		}
		return nil
	})
	if errors.Is(err, errLast) {
		err = nil
	}
	return rows, more || rows >= store.MostLeft, err
}

func (s *Store) deleteExpired(ctx context.Context, now time.Time) (n int, err error) {
	const operation = "delete expired sessions"
	due := func(_ context.Context, _ *view, ends []string) ([]string, error) {
		for i, end := range ends {
			if at, _, _, ok := endingOf(end); ok && !at.Before(now) {
				return ends[:i], errLast
			}
		}
		return ends, nil
	}
	remove := func(ctx context.Context, v *view, ends []string) ([]string, error) {
		return v.removeEnded(ctx, ends, now)
	}
	n, err = s.inBatches(ctx, operation, allEnds, due, remove)
	if err != nil || s.tx != nil {
		return n, err
	}
	for _, of := range allExpiring {
		gone, err := s.round(ctx, operation, of, now)
		n += gone
		if err != nil {
			return n, err
		}
	}
	err = s.db.View().pages(ctx, staleUsers, pageSize, func(users []string) error {
		var errs []error
		for _, user := range users {
			errs = append(errs, s.db.settleListed(ctx, user))
		}
		return errors.Join(errs...)
	})
	return n, s.failed(ctx, operation, err)
}

// removeEnded deletes the records of those ends that have really expired, and returns the ends. It corrects the ends of
// the others.
func (v *view) removeEnded(ctx context.Context, ends []string, now time.Time) (gone []string, err error) {
	var wanted, copies []string
	for _, end := range ends {
		if _, of, name, ok := endingOf(end); ok {
			wanted = append(wanted, key(of.kind, name))
			if of == expiringSessions {
				copies = append(copies, key("session", name))
			}
		}
	}
	if len(wanted) > 0 {
		if _, err := v.peek(ctx, slices.Concat(wanted, copies)...); err != nil { // in one round trip
			return nil, err
		}
	}
	for _, end := range ends {
		v.drop(allEnds, end)
		_, of, name, ok := endingOf(end)
		if !ok {
			continue
		}
		values, err := v.get(ctx, key(of.kind, name)) // it may be extended meanwhile
		if err != nil {
			return nil, err
		}
		d, err := decode[ending](values[0].Text)
		switch {
		case !values[0].Found || err != nil || d.Expires.IsZero():
		case !d.Expires.Before(now):
			v.add(allEnds, of.end(d.Expires, name))
		case of == expiringTokens:
			v.removeToken(name)
			gone = append(gone, end)
		case of == expiringRecords:
			v.removeOwned(of.kind, escaped(d.UserID), name)
			gone = append(gone, end)
		default:
			copied, err := v.peek(ctx, key("session", name))
			if err != nil {
				return nil, err
			}
			if o, err := decode[owner](copied[0].Text); copied[0].Found && err == nil {
				v.removeSession(escaped(o.ID), name)
				gone = append(gone, end)
			}
		}
	}
	return gone, nil
}

// place is the position of DeleteExpired in its rounds through all records of one kind.
type place struct {
	// After is the name after which the next call continues. If it is empty, the next call starts at the beginning.
	After string `json:"after"`
	// Whole is set after a complete round: then all records are in the set of ends.
	Whole bool `json:"whole"`
}

// round checks some records of one kind, or in the first round all that remain.
func (s *Store) round(ctx context.Context, operation string, of expiring, now time.Time) (n int, err error) {
	at := key("cleaned", of.set)
	values, err := s.db.View().peek(ctx, at)
	if err != nil {
		return 0, s.failed(ctx, operation, err)
	}
	began, _ := decode[place](values[0].Text) // an unreadable place starts a new round
	page := Page{Set: of.set, After: began.After, Limit: pageSize}
	for pages := 0; !began.Whole || pages < roundPages; pages++ {
		names, ended, live, err := s.look(ctx, of, page, now)
		if err != nil {
			return n, s.failed(ctx, operation, err)
		}
		for some := range slices.Chunk(ended, batchNames) {
			gone, err := s.run(ctx, operation, func(ctx context.Context, v *view) ([]string, error) {
				return v.removeEnded(ctx, some, now)
			})
			n += len(gone)
			if err != nil {
				return n, err
			}
		}
		page.After = next(page, names)
		to := place{page.After, began.Whole || page.After == ""}
		if err := s.keepPlace(ctx, operation, at, to, began, live); err != nil {
			return n, err
		}
		if page.After == "" {
			break
		}
	}
	return n, nil
}

// look reads a page of records. It divides their ends by whether the records have expired.
func (s *Store) look(
	ctx context.Context, of expiring, page Page, now time.Time,
) (names, ended, live []string, err error) {
	got, err := s.db.engine.Read(ctx, Query{Sets: []Page{page}})
	if err != nil || len(got.Names[0]) == 0 {
		return nil, nil, nil, err
	}
	names = got.Names[0]
	values, err := s.db.View().peek(ctx, keys(of.kind, names)...)
	for i, value := range values {
		d, err := decode[ending](value.Text)
		switch {
		case !value.Found || err != nil:
		case d.Expires.Before(now):
			ended = append(ended, of.end(d.Expires, names[i]))
		default:
			live = append(live, of.end(d.Expires, names[i]))
		}
	}
	return names, ended, live, err
}

// keepPlace stores the position of a round, and in the first round the ends of the existing records.
func (s *Store) keepPlace(ctx context.Context, operation, at string, now, began place, live []string) error {
	if now == began {
		return nil
	}
	var o object
	o.text("after", now.After)
	o.raw("whole", []byte(map[bool]string{true: "true", false: "false"}[now.Whole]))
	document, err := o.done()
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	_, err = s.run(ctx, operation, func(_ context.Context, v *view) ([]string, error) {
		v.put(at, document)
		if !began.Whole {
			for _, end := range live {
				v.add(allEnds, end)
			}
		}
		return nil, nil
	})
	return err
}

// settleListed is settle for a user in the stale set, even if the stale record is lost.
func (d *database) settleListed(ctx context.Context, id string) error {
	values, err := d.View().peek(ctx, key("stale", id))
	if err == nil && !values[0].Found {
		v := d.View()
		v.markStale(id)
		err = v.commit(ctx)
	}
	if err != nil {
		return err
	}
	return d.settle(ctx, id)
}
