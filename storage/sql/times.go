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

// What every form can keep: the years 1 to 9999.
var (
	firstMilli = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	lastMilli  = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() - 1
)

// The forms of texts, and the one in which texts are compared.
const (
	isoForm     = "2006-01-02T15:04:05.000Z"
	offsetForm  = "2006-01-02T15:04:05.000+00:00"
	compareForm = "2006-01-02T15:04:05.000"
)

// moment is a time in milliseconds since 1970 that is still to be written in the form that the tables have.
type moment int64

// encodeTime is the value that keeps a time. Fractions are rounded down, so that nothing lasts longer than it should.
func (e *engine) encodeTime(t time.Time) (any, error) {
	n := t.UnixMilli()
	if n < firstMilli || n > lastMilli {
		return nil, errors.New("a time is not in the years 1 to 9999")
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

// written is a time in one of the forms that are the same on every engine.
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

// bothForms reports whether a column of times may hold integers beside texts, because two programs write to it.
func (e *engine) bothForms() bool {
	return e.dialect.TypeOf != nil && e.layout.Times != NativeTimes && e.layout.Times != MillisTextTimes
}

// decodeTime reads a time. A form that the layout does not know is an error: taken for another unit a session might
// never end.
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
	case time.Time: // a driver that knows the declared type
		return v.UTC(), nil
	case []byte:
		return e.decodeTime(string(v))
	case string:
		switch {
		case e.layout.Times == MillisTextTimes:
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				return time.Time{}, errors.New("a column of times in milliseconds holds no number")
			}
			return milli(n)
		case e.layout.Times != MillisTimes || both:
			return ParseTime(v)
		}
	}
	return time.Time{}, fmt.Errorf("a column of times holds a %T: does Layout.Times fit the database?", value)
}

// form is the form in which times are written: FoundTimes as long as it has not been found.
func (e *engine) form() Times {
	if e.layout.Times == FoundTimes {
		return Times(e.writtenAs.Load())
	}
	return e.layout.Times
}

// findForm looks for the form before the first statement that writes a time. Where nothing is there yet, this store
// begins with texts, which are what Prisma's driver adapters write unless told otherwise, and which a program that
// compares integers never takes for expired.
func (r *runner) findForm(ctx context.Context, st *statement, args []any) error {
	isTime := func(a any) bool { _, ok := a.(moment); return ok }
	if r.form() != FoundTimes || !slices.Contains(st.args, textForm) && !slices.ContainsFunc(args, isTime) {
		return nil
	}
	found, err := r.lookForForm(ctx, r.target())
	if err != nil {
		return err
	}
	if found == FoundTimes {
		found = OffsetTimes
	}
	r.writtenAs.Store(int64(found))
	return nil
}

// querier is what can be asked: a handle, a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// lookForForm asks the tables: texts if one of them holds a text, because before it asked, this store wrote integers
// itself; FoundTimes if there is nothing. The engine sorts texts after integers, so that the greatest value tells.
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

// milli refuses what cannot be milliseconds.
func milli(n int64) (time.Time, error) {
	if n < firstMilli || n > lastMilli {
		return time.Time{}, errors.New("a time is not in the years 1 to 9999: are its units milliseconds?")
	}
	return time.UnixMilli(n).UTC(), nil
}

// ParseTime reads a time as engines and JavaScript write it; without an offset it is UTC.
func ParseTime(text string) (time.Time, error) {
	for _, form := range []string{
		time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00",
	} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, errors.New("a text in a column of times is no time")
}

// optionalTime keeps the zero time as null.
func (e *engine) optionalTime(t time.Time) (any, error) {
	if t.IsZero() {
		return nil, nil
	}
	return e.encodeTime(t)
}

// kept is a time as a later read will return it.
func (e *engine) kept(t time.Time) time.Time {
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

// ScanTime is Scan for a time that the driver has decoded, the zero time for null.
func (c *timeColumn) ScanTime(at time.Time) { c.at = at.UTC() }
