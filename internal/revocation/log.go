package revocation

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/internal/recordstore"
	"github.com/latchkey-go/latchkey/internal/sessionid"
)

// The log of ended sessions is a chain of pages in records. Entries are appended to the page with the key head, with
// compare-and-set. So the store determines their order, and no entry appears before the position of a reader. A full
// page never changes again. The next writer copies it under its number (writing the same copy twice is harmless), and
// replaces head with a new page, again with compare-and-set. Checking for new entries is one read of one key.

const (
	// recordRevoked is the kind of the pages. logHead is the key of the last page.
	recordRevoked = "revoked"
	logHead       = "head"
	// A page is full after pageEntries entries or pageBytes bytes. The rest of a record has room for any one entry.
	pageEntries = 250
	pageBytes   = recordstore.MaxValue - 2<<10
	// maxLogName is the maximum length of a user ID in an entry. A longer ID is hashed.
	maxLogName = 255
)

// logPage is a page of the log.
type logPage struct {
	Number int64 `json:"n"`
	// Until is the latest expiry of the entries on this page and on all earlier pages, so that pages expire in order.
	Until   int64   `json:"u"`
	Entries []entry `json:"e"`
}

func (p *logPage) full(value json.RawMessage) bool {
	return len(p.Entries) >= pageEntries || len(value) > pageBytes
}

// entry is an entry of the log. It ends one session, or all sessions of a user that started under an earlier epoch,
// except one. until is when all tokens of these sessions have expired, in Unix seconds.
type entry struct {
	user       string // empty for an entry that ends one session
	id, except sessionid.ID
	epoch      int64
	until      int64
	// dataChanged means that no session has ended, but copies of the user's data are outdated.
	dataChanged bool
}

// MarshalText returns "s<id>.<until>", "u<epoch>.<until>.<except>.<user>" or "d<until>.<user>".
func (e entry) MarshalText() ([]byte, error) {
	until := strconv.FormatInt(e.until, 36)
	if e.dataChanged {
		return []byte("d" + until + "." + e.user), nil
	}
	if e.user == "" {
		return []byte("s" + e.id.String() + "." + until), nil
	}
	except := ""
	if e.except != (sessionid.ID{}) {
		except = e.except.String()
	}
	return []byte("u" + strconv.FormatInt(e.epoch, 36) + "." + until + "." + except + "." + e.user), nil
}

// UnmarshalText parses the output of MarshalText.
func (e *entry) UnmarshalText(text []byte) (err error) {
	*e = entry{}
	kind, rest := string(text[:min(len(text), 1)]), string(text[min(len(text), 1):])
	first, rest, _ := strings.Cut(rest, ".")
	ok := true
	switch kind {
	case "s":
		e.id, ok = sessionid.Parse(first)
	case "u":
		if e.epoch, err = strconv.ParseInt(first, 36, 64); err != nil {
			return errLogEntry
		}
		var except, until string
		until, rest, _ = strings.Cut(rest, ".")
		if except, e.user, _ = strings.Cut(rest, "."); except != "" {
			e.except, ok = sessionid.Parse(except)
		}
		rest, ok = until, ok && e.user != ""
	case "d":
		e.dataChanged, e.user, rest, ok = true, rest, first, rest != ""
	default:
		return errLogEntry
	}
	if e.until, err = strconv.ParseInt(rest, 36, 64); err != nil || !ok {
		return errLogEntry
	}
	return nil
}

var errLogEntry = errors.New("an entry of the revocation log cannot be parsed: was it written by a later version?")

// UserKey returns the name of a user in the log: the user ID, or its hash if the ID is long.
func UserKey(userID string) string {
	if len(userID) > maxLogName {
		return sessionid.Of(userID).String()
	}
	return userID
}

// addTime is the timeout of a write to the log.
const addTime = 5 * time.Second

// catchUp reads the entries that were added since the last read, the newest page first. If it fails, the next call
// continues where it stopped.
func (l *List) catchUp(ctx context.Context) error {
	head, _, err := l.page(ctx, logHead)
	if errors.Is(err, recordstore.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	from := l.read
	if head.Number < from.page || head.Number == from.page && len(head.Entries) < from.entries {
		from = position{} // the store was restored from a backup
	}
	l.unread = append(l.unread, unread{head.Number, from})
	l.read = position{head.Number, len(head.Entries)}
	for page := &head; len(l.unread) > 0; page = nil {
		last := &l.unread[len(l.unread)-1]
		if page == nil {
			older, _, err := l.page(ctx, strconv.FormatInt(last.next, 10))
			if err != nil && !errors.Is(err, recordstore.ErrNotFound) {
				return err
			}
			page = &older // empty if it has expired, as all earlier pages have
		}
		begin := 0
		if page.Number == last.from.page {
			begin = last.from.entries
		}
		l.learn(page.Entries[min(begin, len(page.Entries)):]...)
		if last.next--; page.Number <= last.from.page {
			l.unread = l.unread[:len(l.unread)-1]
		}
	}
	return nil
}

func (l *List) page(ctx context.Context, key string) (page logPage, record *recordstore.Record, err error) {
	record, err = l.record(ctx, recordRevoked, key, &page)
	return page, record, err
}

// record reads a record and decodes its value.
func (l *List) record(ctx context.Context, kind, key string, into any) (*recordstore.Record, error) {
	record, err := l.Records.Record(ctx, kind, key)
	switch {
	case err != nil:
		return nil, err
	case record == nil:
		return nil, errors.New("the store returned neither a record nor ErrNotFound")
	}
	return record, json.Unmarshal(record.Value, into)
}

// add stores an entry in this process and in the log. It continues if the request is canceled.
func (l *List) add(ctx context.Context, e entry) error {
	l.learn(e)
	ctx, end := context.WithTimeout(context.WithoutCancel(ctx), addTime)
	defer end()
	w := &l.writing
	w.mu.Lock()
	if w.open == nil {
		w.open = &batch{}
	}
	b := w.open
	b.entries = append(b.entries, e)
	w.mu.Unlock()
	select {
	case w.turn <- struct{}{}:
		defer func() { <-w.turn }()
	case <-ctx.Done():
		return recordstore.Unavailable(ctx.Err())
	}
	if !b.written {
		w.mu.Lock()
		w.open = nil
		w.mu.Unlock()
		b.err = l.write(ctx, b.entries)
		b.written = true
	}
	return b.err
}

// write appends entries to the log, on as many pages as they need.
func (l *List) write(ctx context.Context, entries []entry) error {
	for len(entries) > 0 {
		n, err := l.writeSome(ctx, entries)
		overtaken := errors.Is(err, recordstore.ErrConflict) || errors.Is(err, recordstore.ErrNotFound)
		if err != nil && !overtaken {
			return err
		}
		entries = entries[n:]
		if overtaken && recordstore.Pause(ctx, 15*time.Millisecond) != nil {
			return recordstore.Unavailable(ctx.Err())
		}
	}
	return nil
}

// writeSome appends as many entries as the head page has room for, and returns their number. After ErrConflict and
// ErrNotFound no entry was added, because another process has written the page.
func (l *List) writeSome(ctx context.Context, entries []entry) (n int, err error) {
	page, record, err := l.page(ctx, logHead)
	switch {
	case errors.Is(err, recordstore.ErrNotFound):
		page, record = logPage{Number: 1}, &recordstore.Record{Kind: recordRevoked, Key: logHead}
	case err != nil:
		return 0, err
	case page.full(record.Value):
		copied := &recordstore.Record{
			Kind: recordRevoked, Key: strconv.FormatInt(page.Number, 10), Value: record.Value,
			Expires: time.Unix(page.Until, 0),
		}
		if err := l.Records.CreateRecord(ctx, copied); err != nil && !errors.Is(err, recordstore.ErrConflict) {
			return 0, err
		}
		page = logPage{Number: page.Number + 1, Until: page.Until}
	}
	var value json.RawMessage
	for n = 0; n < len(entries) && (n == 0 || !page.full(value)); n++ {
		page.Entries = append(page.Entries, entries[n])
		page.Until = max(page.Until, entries[n].until)
		if value, err = json.Marshal(page); err != nil {
			return 0, err
		}
	}
	record.Value = value
	if record.Version == 0 {
		err = l.Records.CreateRecord(ctx, record)
	} else {
		err = l.Records.UpdateRecord(ctx, record)
	}
	if err != nil {
		return 0, err
	}
	return n, nil
}
