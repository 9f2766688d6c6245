package main

import (
	"context"
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/latchkey-go/latchkey/storage/postgres"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// some is the number of rows that one step adds.
const some = 100_000

// inSteps calls do with ranges of numbers.
func inSteps(from, to int, do func(from, to int) error) error {
	for ; from < to; from += some {
		if err := do(from, min(from+some, to)); err != nil {
			return err
		}
	}
	return nil
}

// inPostgres fills its own schema with COPY.
type inPostgres struct {
	conn   *pgx.Conn
	store  *postgres.Store
	schema string
	crowd  crowd
}

func newPostgresPlace(ctx context.Context, schema string, c crowd) (*place, error) {
	address := os.Getenv(postgresURL)
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		return nil, err
	}
	// This role disables foreign key checks. All users of the sessions exist.
	for _, statement := range []string{
		"CREATE SCHEMA " + schema, "SET search_path TO " + schema, "SET session_replication_role TO replica",
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return nil, err
		}
	}
	with := "?"
	if strings.Contains(address, "?") {
		with = "&"
	}
	s, err := postgres.Open(address+with+"search_path="+schema, postgres.Options{})
	if err != nil {
		return nil, err
	}
	return &place{s, &inPostgres{conn, s, schema, c}}, s.Migrate(ctx)
}

func (p *inPostgres) copy(
	ctx context.Context, table string, columns []string, from, to int, row func(int) []any,
) error {
	return inSteps(from, to, func(from, to int) error {
		next := func() ([]any, error) {
			if from == to {
				return nil, nil
			}
			from++
			return row(from - 1), nil
		}
		_, err := p.conn.CopyFrom(ctx, pgx.Identifier{p.schema, table}, columns, pgx.CopyFromFunc(next))
		return err
	})
}

func (p *inPostgres) people(ctx context.Context, from, to int) error {
	return p.copy(ctx, "users", []string{"id", "name", "email", "image"}, from, to, func(n int) []any {
		u := p.crowd.person(n)
		return []any{u.ID, u.Name, u.Email, u.Image}
	})
}

func (p *inPostgres) sessions(ctx context.Context, from, to int) error {
	err := p.copy(ctx, "sessions", []string{"sessionToken", "userId", "expires"}, from, to, func(n int) []any {
		s := p.crowd.session(n)
		return []any{string(s.Token), s.UserID, s.Expires}
	})
	if err != nil {
		return err
	}
	for _, statement := range []string{"VACUUM ANALYZE users", "VACUUM ANALYZE sessions", "CHECKPOINT"} {
		if _, err := p.conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func (p *inPostgres) size(ctx context.Context) (size float64, err error) {
	return size, p.conn.QueryRow(ctx, "SELECT pg_total_relation_size('sessions')").Scan(&size)
}

func (p *inPostgres) clear(ctx context.Context) error {
	err := p.store.Close()
	_, dropped := p.conn.Exec(ctx, "DROP SCHEMA "+p.schema+" CASCADE")
	return errors.Join(err, dropped, p.conn.Close(ctx))
}

// inSQLite fills a file, with many rows in each statement.
type inSQLite struct {
	db    *sql.DB
	store *sqlite.Store
	crowd crowd
}

func newSQLitePlace(ctx context.Context, dir string, c crowd) (*place, error) {
	file := filepath.Join(dir, "sessions.db")
	s, err := sqlite.Open(file, sqlite.Options{})
	if err != nil {
		return nil, err
	}
	if err := s.Migrate(ctx); err != nil {
		return nil, err
	}
	db, err := sql.Open("sqlite", strings.Replace(sqlite.DSN(file), "synchronous%28FULL", "synchronous%28OFF", 1)+
		"&_pragma=cache_size(-1500000)")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1)
	return &place{s, &inSQLite{db, s, c}}, nil
}

// insert adds rows, many in each statement.
func (s *inSQLite) insert(ctx context.Context, into string, columns, from, to int, row func(int) []any) error {
	const many = 100
	one := "(?" + strings.Repeat(",?", columns-1) + ")"
	return inSteps(from, to, func(from, to int) error {
		tx, err := s.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		statement, err := tx.PrepareContext(ctx, "INSERT INTO "+into+" VALUES "+one+strings.Repeat(","+one, many-1))
		if err != nil {
			return err
		}
		for ; from < to; from += many {
			var values []any
			for n := from; n < from+many; n++ {
				values = append(values, row(n)...)
			}
			if _, err := statement.ExecContext(ctx, values...); err != nil {
				return err
			}
		}
		return tx.Commit()
	})
}

func (s *inSQLite) people(ctx context.Context, from, to int) error {
	return s.insert(ctx, "users (id, name, email, image)", 4, from, to, func(n int) []any {
		u := s.crowd.person(n)
		return []any{u.ID, u.Name, u.Email, u.Image}
	})
}

func (s *inSQLite) sessions(ctx context.Context, from, to int) error {
	err := s.insert(ctx, `sessions ("sessionToken", "userId", expires)`, 3, from, to, func(n int) []any {
		one := s.crowd.session(n)
		return []any{string(one.Token), one.UserID, one.Expires.UnixMicro()}
	})
	if err != nil {
		return err
	}
	_, err = s.db.ExecContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)")
	return err
}

// size returns the length of the file. Between two calls it grows only by the added rows.
func (s *inSQLite) size(ctx context.Context) (size float64, err error) {
	pages := s.db.QueryRowContext(ctx, "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
	return size, pages.Scan(&size)
}

func (s *inSQLite) clear(context.Context) error { return errors.Join(s.store.Close(), s.db.Close()) }
