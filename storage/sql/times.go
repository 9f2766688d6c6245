package sqlstore

import (
	"errors"
	"fmt"
	"strconv"
	"time"
)

// What every form can keep: the years 1 to 9999.
var (
	firstMilli = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli()
	lastMilli  = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC).UnixMilli() - 1
)

// encodeTime is the value that keeps a time. Fractions are rounded down, so that nothing lasts longer than it should.
func (e *engine) encodeTime(t time.Time) (any, error) {
	n := t.UnixMilli()
	if n < firstMilli || n > lastMilli {
		return nil, errors.New("a time is not in the years 1 to 9999")
	}
	switch e.layout.Times {
	case MillisTimes:
		return n, nil
	case MillisTextTimes:
		return strconv.FormatInt(n, 10), nil
	case ISOTimes:
		return time.UnixMilli(n).UTC().Format("2006-01-02T15:04:05.000Z"), nil
	}
	return e.EncodeTime(t)
}

// decodeTime reads a time. A form that is not the layout's is an error: taken for another unit a session might never end.
func (e *engine) decodeTime(value any) (time.Time, error) {
	if e.layout.Times == NativeTimes {
		return e.DecodeTime(value)
	}
	switch v := value.(type) {
	case int64:
		if e.layout.Times == MillisTimes {
			return milli(v)
		}
	case time.Time: // a driver that knows the declared type
		return v.UTC(), nil
	case []byte:
		return e.decodeTime(string(v))
	case string:
		if e.layout.Times == MillisTextTimes {
			n, err := strconv.ParseInt(v, 10, 64)
			if err != nil {
				return time.Time{}, errors.New("a column of times in milliseconds holds no number")
			}
			return milli(n)
		}
		if e.layout.Times == ISOTimes {
			return ParseTime(v)
		}
	}
	return time.Time{}, fmt.Errorf("a column of times holds a %T: does Layout.Times fit the database?", value)
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
	for _, form := range []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999", "2006-01-02 15:04:05.999999999Z07:00"} {
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
