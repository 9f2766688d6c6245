package keyvalue

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

// roundPages is how many pages of sessions, of tokens, and of records, DeleteExpired looks at beside those whose turn
// has come.
const roundPages = 10

// expiring are the records of one kind that expire.
type expiring struct{ kind, set string }

// All that expires.
var (
	expiringSessions = expiring{"expires", allSessions}
	expiringTokens   = expiring{"token", allTokens}
	expiringRecords  = expiring{"record", allRecords}
)

var allExpiring = []expiring{expiringSessions, expiringTokens, expiringRecords}

// endForm orders times by their bytes.
const endForm = "2006-01-02T15:04:05.000000000Z"

// end is the name in the set of ends by which DeleteExpired finds what expires at a time. An extended session or record
// keeps the one that it has: when its turn comes it gets another.
func (of expiring) end(at time.Time, name string) string {
	return at.UTC().Format(endForm) + "/" + of.kind + "/" + name
}

// endingOf takes the name of an end apart; ok is false for what this package does not write.
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

// cleaner is the part of a Store that deletes what has expired.
type cleaner struct{ runner }

// DeleteExpired implements [store.Cleaner]. It walks along the set of ends as far as now, a few sessions, tokens and
// records by each commit, and then looks at the next thousand of each, those first that follow the last of the call
// before: among them are those that were made by an earlier version, which had no set of ends, or whose end it took
// away, and sessions whose end was moved to an earlier time. The first time it looks at all of them, and gives each an
// end; when the context ends it goes on there the next time. It also finishes what a crash has interrupted: what a
// deleted user left behind, and copies of a user that are out of date.
//
// When the context ends, what is left is counted in the set of ends, with sessions that have been extended since; until
// all has its end, there may be more.
//
// Within a transaction it does the first of this only, in one step.
func (s *cleaner) DeleteExpired(ctx context.Context, now time.Time) (n int, err error) {
	n, err = s.deleteExpired(ctx, now)
	if s.tx == nil {
		err = store.WithLeft(ctx, err, func(ctx context.Context) (int, bool, error) { return s.left(ctx, now) })
	}
	return n, err
}

// left counts the ends before now, and says whether it stopped counting, or not all has its end.
func (s *cleaner) left(ctx context.Context, now time.Time) (rows int, more bool, err error) {
	const page = 1000
	v := s.view()
	places, err := v.peek(ctx, key("cleaned", allSessions), key("cleaned", allTokens), key("cleaned", allRecords))
	if err != nil {
		return 0, false, err
	}
	for _, at := range places {
		began, _ := decode[place](at.Text) // what is not there, or cannot be read, is no whole round
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

func (s *cleaner) deleteExpired(ctx context.Context, now time.Time) (n int, err error) {
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
	err = s.view().pages(ctx, staleUsers, pageSize, func(users []string) error {
		var errs []error
		for _, user := range users {
			errs = append(errs, s.settleListed(ctx, user))
		}
		return errors.Join(errs...)
	})
	return n, s.failed(ctx, operation, err)
}

// removeEnded removes those of some ends, with what they lead to, that have really ended, and returns them. The others
// get the end that they have by now.
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

// place is how far DeleteExpired has come in its rounds through all sessions or tokens.
type place struct {
	// After is behind which name the next call goes on; empty: at the beginning.
	After string `json:"after"`
	// Whole says that a round has come to its end: everything has its end in the set of ends.
	Whole bool `json:"whole"`
}

// round looks at some of all sessions or tokens, or at all that are left of the first round.
func (s *cleaner) round(ctx context.Context, operation string, of expiring, now time.Time) (n int, err error) {
	at := key("cleaned", of.set)
	values, err := s.view().peek(ctx, at)
	if err != nil {
		return 0, s.failed(ctx, operation, err)
	}
	began, _ := decode[place](values[0].Text) // what cannot be read is no place: a new round begins
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

// look reads a page of sessions or tokens; their ends come back by whether they have expired.
func (s *cleaner) look(
	ctx context.Context, of expiring, page Page, now time.Time,
) (names, ended, live []string, err error) {
	got, err := s.engine.Read(ctx, Query{Sets: []Page{page}})
	if err != nil || len(got.Names[0]) == 0 {
		return nil, nil, nil, err
	}
	names = got.Names[0]
	values, err := s.view().peek(ctx, keys(of.kind, names)...)
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

// keepPlace writes how far a round has come, and in the first one the ends of what was there.
func (s *cleaner) keepPlace(ctx context.Context, operation, at string, now, began place, live []string) error {
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
