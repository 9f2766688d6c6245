package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
)

// rows are the rows of a lookup. Close returns the connection.
type rows struct {
	driver.Rows
	ctx    context.Context
	from   *readers
	reader *reader
	values []driver.Value
	err    error
}

// named converts values to those of the driver.
func (r *rows) named(args []any) ([]driver.NamedValue, error) {
	list := r.reader.args[:0]
	for i, arg := range args {
		value, err := driver.DefaultParameterConverter.ConvertValue(arg)
		if err != nil {
			return nil, err
		}
		list = append(list, driver.NamedValue{Ordinal: i + 1, Value: value})
	}
	return list, nil
}

// begin runs the query and allocates the values of a row.
func (r *rows) begin(query string, args []any) error {
	values, err := r.named(args)
	if err != nil {
		return err
	}
	if r.Rows, err = r.reader.query(query, values); err != nil {
		return err
	}
	n := len(r.Columns())
	own := &r.reader.values
	if r.values = own[:min(n, len(own))]; n > len(own) {
		r.values = make([]driver.Value, n)
	}
	return nil
}

// Next implements [sqlstore.Rows].
func (r *rows) Next() bool {
	if r.err = r.ctx.Err(); r.err == nil {
		r.err = r.Rows.Next(r.values)
	}
	return r.err == nil
}

// Err implements [sqlstore.Rows].
func (r *rows) Err() error {
	if errors.Is(r.err, io.EOF) {
		return nil
	}
	return r.err
}

// Close implements [sqlstore.Rows].
func (r *rows) Close() error {
	err := r.Rows.Close()
	r.values = nil // the next lookup uses them
	r.from.give(r.reader)
	return err
}

// Scan implements [sqlstore.Rows].
func (r *rows) Scan(into ...any) error {
	if len(into) != len(r.values) {
		return fmt.Errorf("%d columns for %d destinations", len(r.values), len(into))
	}
	for i, to := range into {
		if err := assign(to, r.values[i]); err != nil {
			return fmt.Errorf("column %d: %w", i+1, err)
		}
	}
	return nil
}

// assign converts a value like database/sql.
func assign(to any, value driver.Value) error {
	switch to := to.(type) {
	case sql.Scanner:
		return to.Scan(value)
	case *string:
		return converted(to, value)
	case *int:
		return converted(to, value)
	case *int64:
		return converted(to, value)
	case *uint32:
		return converted(to, value)
	case *bool:
		return converted(to, value)
	}
	return fmt.Errorf("unsupported destination type %T", to)
}

func converted[T any](to *T, value driver.Value) error {
	var v sql.Null[T]
	if err := v.Scan(value); err != nil {
		return err
	}
	if !v.Valid {
		return errors.New("unexpected null")
	}
	*to = v.V
	return nil
}
