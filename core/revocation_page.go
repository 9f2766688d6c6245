package core

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"github.com/latchkey-go/latchkey/core/store"
)

// The log of ended sessions is a chain of pages in records. Entries are added to the page called head, by
// compare-and-set: so their order is the store's, and none appears behind a reader. A page that is full never changes
// again: it is copied under its number by the next writer (a second copy is the same), and the compare-and-set that
// begins the next page takes its place as head. Asking what is new is one read of one key.

const (
	// recordRevoked is the kind of the pages, logHead the key of the last one.
	recordRevoked = "revoked"
	logHead       = "head"
	// pageEntries and pageBytes make a page full. Behind pageBytes there is room for any entry.
	pageEntries = 250
	pageBytes   = store.MaxRecordValue - 2<<10
	// maxLogName is how long the ID of a user is at most that stands in an entry as it is.
	maxLogName = 255
)

// logPage is a page of the log.
type logPage struct {
	Number int64 `json:"n"`
	// Until is the latest end of its entries and of those of all pages before: pages expire in their order.
	Until   int64     `json:"u"`
	Entries []revoked `json:"e"`
}

func (p *logPage) full(value json.RawMessage) bool {
	return len(p.Entries) >= pageEntries || len(value) > pageBytes
}

// revoked is an entry of the log: a session that has ended, or all sessions of a user that began under an earlier epoch
// but for one. until is when no token can be of them any more, in Unix seconds.
type revoked struct {
	user       string // empty: a session
	id, except [16]byte
	epoch      int64
	until      int64
	// outdated: no session has ended, and copies of the user's data are old.
	outdated bool
}

// MarshalText writes "s<id>.<until>", "u<epoch>.<until>.<except>.<user>" or "d<until>.<user>".
func (e revoked) MarshalText() ([]byte, error) {
	until := strconv.FormatInt(e.until, 36)
	if e.outdated {
		return []byte("d" + until + "." + e.user), nil
	}
	if e.user == "" {
		return []byte("s" + idText(e.id) + "." + until), nil
	}
	except := ""
	if e.except != [16]byte{} {
		except = idText(e.except)
	}
	return []byte("u" + strconv.FormatInt(e.epoch, 36) + "." + until + "." + except + "." + e.user), nil
}

// UnmarshalText reads what MarshalText writes.
func (e *revoked) UnmarshalText(text []byte) (err error) {
	*e = revoked{}
	kind, rest := string(text[:min(len(text), 1)]), string(text[min(len(text), 1):])
	first, rest, _ := strings.Cut(rest, ".")
	ok := true
	switch kind {
	case "s":
		e.id, ok = idOf(first)
	case "u":
		if e.epoch, err = strconv.ParseInt(first, 36, 64); err != nil {
			return errLogEntry
		}
		var except, until string
		until, rest, _ = strings.Cut(rest, ".")
		if except, e.user, _ = strings.Cut(rest, "."); except != "" {
			e.except, ok = idOf(except)
		}
		rest, ok = until, ok && e.user != ""
	case "d":
		e.outdated, e.user, rest, ok = true, rest, first, rest != ""
	default:
		return errLogEntry
	}
	if e.until, err = strconv.ParseInt(rest, 36, 64); err != nil || !ok {
		return errLogEntry
	}
	return nil
}

var errLogEntry = errors.New("an entry in the log of ended sessions cannot be read: was it written by a later version?")

// logName is a user in the log: the ID, or its hash where that is long.
func logName(userID string) string {
	if len(userID) > maxLogName {
		return publicID(userID)
	}
	return userID
}
