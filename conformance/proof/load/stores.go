package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/redis/go-redis/v9"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/memory"
	"github.com/latchkey-go/latchkey/storage/postgres"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// Addresses of the databases: the same variables as for the stores' tests.
const (
	postgresURL = "LATCHKEY_TEST_POSTGRES_URL"
	redisURL    = "LATCHKEY_TEST_REDIS_URL"
)

// reachable lists the stores that can be measured on this machine.
func reachable() []string {
	stores := []string{"memory", "sqlite"}
	if os.Getenv(postgresURL) != "" {
		stores = append(stores, "postgres")
	}
	if os.Getenv(redisURL) != "" {
		stores = append(stores, "redis")
	}
	return stores
}

// openStore opens a store by its name. "" means no store. SQLite files are created in dir.
func openStore(ctx context.Context, name, dir string) (core.Store, error) {
	switch name {
	case "":
		return nil, nil
	case "memory":
		return memory.New(), nil
	case "sqlite":
		s, err := sqlite.Open(filepath.Join(dir, "sessions.db"), sqlite.Options{})
		if err != nil {
			return nil, err
		}
		return s, s.Migrate(ctx)
	case "postgres":
		s, err := postgres.Open(os.Getenv(postgresURL), postgres.Options{})
		if err != nil {
			return nil, err
		}
		return s, s.Migrate(ctx)
	case "redis":
		return redisstore.Open(os.Getenv(redisURL), redisstore.Options{})
	}
	return nil, fmt.Errorf("no store is called %q", name)
}

const floorStatement = `SELECT u.name, u.email, u.image, s.expires FROM sessions s JOIN users u ON u.id = s."userId" ` +
	`WHERE s."sessionToken" = $1`

// floorToken is the session that the baseline looks up.
const floorToken = "2f1a9f7e-30a6-4c55-a6f4-3fb0a2c0a001"

// floorStore looks up a session with the database driver alone: one statement, or one key.
func floorStore(ctx context.Context, name, dir string) (func(context.Context, string) (visitor, error), error) {
	if name == "redis" {
		return floorRedis(ctx)
	}
	kept, err := openStore(ctx, name, dir) // creates the tables
	if err != nil {
		return nil, err
	}
	person, err := personIn(kept, &core.User{ID: personID, Name: personName, Email: personEmail, Image: personImage})
	if err != nil {
		return nil, err
	}
	session := &store.Session{Token: floorToken, UserID: person.ID, Expires: time.Now().Add(month)}
	sessions, ok := kept.(store.SessionStore)
	if !ok {
		return nil, errors.New("the store keeps no sessions")
	}
	if err := sessions.CreateSession(ctx, session); err != nil && !errors.Is(err, core.ErrConflict) {
		return nil, err
	}
	if name == "postgres" {
		pool, err := pgxpool.New(ctx, os.Getenv(postgresURL))
		if err != nil {
			return nil, err
		}
		return func(ctx context.Context, token string) (v visitor, err error) {
			var expires time.Time
			err = pool.QueryRow(ctx, floorStatement, token).Scan(&v.Name, &v.Email, &v.Image, &expires)
			return v, err
		}, nil
	}
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "sessions.db")+"?_pragma=journal_mode(WAL)")
	if err != nil {
		return nil, err
	}
	statement, err := db.PrepareContext(ctx, floorStatement)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, token string) (v visitor, err error) {
		var expires int64
		err = statement.QueryRowContext(ctx, token).Scan(&v.Name, &v.Email, &v.Image, &expires)
		return v, err
	}, nil
}

func floorRedis(ctx context.Context) (func(context.Context, string) (visitor, error), error) {
	options, err := redis.ParseURL(os.Getenv(redisURL))
	if err != nil {
		return nil, errors.New(redisURL + " is no address of a Redis server")
	}
	client := redis.NewClient(options)
	document, err := json.Marshal(visitor{personName, personEmail, personImage})
	if err != nil {
		return nil, err
	}
	if err := client.Set(ctx, "floor:"+floorToken, document, time.Hour).Err(); err != nil {
		return nil, err
	}
	return func(ctx context.Context, token string) (v visitor, err error) {
		raw, err := client.Get(ctx, "floor:"+token).Bytes()
		if err != nil {
			return v, err
		}
		return v, json.Unmarshal(raw, &v)
	}, nil
}
