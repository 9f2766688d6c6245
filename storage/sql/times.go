package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// The range that every form can represent: the years 1 to 9999.
var (
	firstMilli = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	lastMilli  = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() - 1
)

// The formats of texts, and the format in which texts are compared.
const (
	isoForm     = "2006-01-02T15:04:05.000Z"
	offsetForm  = "2006-01-02T15:04:05.000+00:00"
	compareForm = "2006-01-02T15:04:05.000"
)

// moment is a time in milliseconds since 1970 that still needs conversion to the form of the tables.
type moment int64

// encodeTime converts a time to a column value. It rounds down, so that nothing lasts longer than it should.
func (e *engine) encodeTime(t time.Time) (any, error) {
	n := t.UnixMilli()
	if n < firstMilli || n > lastMilli {
		return nil, errors.New("time out of range: the year must be from 1 to 9999")
	}
	switch e.layout.Times {
	case NativeTimes:
		return e.dialect.EncodeTime(t)
	case FoundTimes:
		return moment(n), nil
	default:
		return written(n, e.layout.Times), nil
	}
}

// written converts a time to a form that is the same on every database.
func written(n int64, form Times) any {
	switch form {
	case MillisTextTimes:
		return strconv.FormatInt(n, 10)
	case ISOTimes:
		return time.UnixMilli(n).UTC().Format(isoForm)
	case OffsetTimes:
		return time.UnixMilli(n).UTC().Format(offsetForm)
	default:
		return n
	}
}

// bothForms reports whether a column of times may contain both integers and texts, because two programs write to it.
func (e *engine) bothForms() bool {
	return e.dialect.TypeOf != nil && e.layout.Times != NativeTimes && e.layout.Times != MillisTextTimes
}

// decodeTime reads a time. It rejects a form that the layout does not have: with another unit, a session might never
// expire.
func (e *engine) decodeTime(value any) (time.Time, error) {
	if e.layout.Times == NativeTimes {
		return e.dialect.DecodeTime(value)
	}
	both := e.bothForms()
	switch v := value.(type) {
	case int64:
		if e.layout.Times == MillisTimes || both {
			return milli(v)
		}
	case time.Time: // from a driver that knows the declared type
		return v.UTC(), nil
	case []byte:
		return e.decodeTime(string(v))
	case string:
		switch {
		case e.layout.Times == MillisTextTimes:
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				return time.Time{}, errors.New("a time column in milliseconds contains no number")
			}
			return milli(n)
		case e.layout.Times != MillisTimes || both:
			return parseTime(v)
		}
	}
	return time.Time{}, fmt.Errorf("a time column contains a %T: check Layout.Times", value)
}

// form returns the form in which times are written, or FoundTimes if it is not detected yet.
func (e *engine) form() Times {
	if e.layout.Times == FoundTimes {
		return Times(e.writtenAs.Load())
	}
	return e.layout.Times
}

// findForm detects the form before the first statement that writes a time. If the tables are empty, the store writes
// texts: Prisma's driver adapters write texts by default, and a program that compares integers never treats them as
// expired.
func (s *Store) findForm(ctx context.Context, st *statement, args []any) error {
	isTime := func(a any) bool { _, ok := a.(moment); return ok }
	if s.form() != FoundTimes || !slices.Contains(st.args, textForm) && !slices.ContainsFunc(args, isTime) {
		return nil
	}
	found, err := s.lookForForm(ctx, s.target())
	if err != nil {
		return err
	}
	if found == FoundTimes {
		found = OffsetTimes
	}
	s.writtenAs.Store(int64(found))
	return nil
}

// querier is a handle, a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// lookForForm detects the form from the tables. It is text if any column contains a text: an earlier version of this
// store, which did not detect the form, wrote integers. It is FoundTimes if the tables are empty. The database sorts
// texts after integers, so the maximum shows whether there is a text.
func (e *engine) lookForForm(ctx context.Context, on querier) (form Times, err error) {
	var kinds []string
	for _, column := range []struct{ table, name string }{
		{sessions, "expires"}, {tokens, "expires"}, {users, "emailVerified"},
	} {
		greatest := e.dialect.TypeOf("MAX(" + e.quoted(column.table, column.name) + ")")
		kinds = append(kinds, "(SELECT "+greatest+" FROM "+e.dialect.Quote(e.layout.table(column.table))+")")
	}
	rows, err := on.QueryContext(ctx, "SELECT "+strings.Join(kinds, ", "))
	if err != nil {
		return FoundTimes, err
	}
	defer func() { err = errors.Join(err, rows.Err(), rows.Close()) }()
	var session, token, verified string
	for rows.Next() {
		if err := rows.Scan(&session, &token, &verified); err != nil {
			return FoundTimes, err
		}
	}
	switch found := []string{session, token, verified}; {
	case slices.Contains(found, "text"):
		return OffsetTimes, nil
	case slices.Contains(found, "integer"):
		return MillisTimes, nil
	}
	return FoundTimes, nil
}

// milli converts milliseconds to a time, and rejects values out of range.
func milli(n int64) (time.Time, error) {
	if n < firstMilli || n > lastMilli {
		return time.Time{}, errors.New("time out of range: the year must be from 1 to 9999 (is the unit milliseconds?)")
	}
	return time.UnixMilli(n).UTC(), nil
}

// parseTime parses a time in the formats of databases and of JavaScript. Without an offset it is UTC.
func parseTime(text string) (time.Time, error) {
	for _, form := range []string{
		time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
	} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, errors.New("a time column contains a text that is not a time")
}

// optionalTime is encodeTime that stores the zero time as null.
func (e *engine) optionalTime(t time.Time) (any, error) {
	if t.IsZero() {
		return nil, nil
	}
	return e.encodeTime(t)
}

// storedTime returns a time as a later read will return it.
func (e *engine) storedTime(t time.Time) time.Time {
	if e.layout.Times == NativeTimes {
		return time.UnixMicro(t.UnixMicro()).UTC()
	}
	return time.UnixMilli(t.UnixMilli()).UTC()
}

// timeColumn scans a time, or null as the zero time.
type timeColumn struct {
	engine *engine
	at     time.Time
}

// Scan implements [database/sql.Scanner].
func (c *timeColumn) Scan(value any) (err error) {
	c.at = time.Time{}
	if value != nil {
		c.at, err = c.engine.decodeTime(value)
	}
	return err
}

// ScanTime sets a time that the driver has already decoded. The zero time is null.
func (c *timeColumn) ScanTime(at time.Time) { c.at = at.UTC() }
