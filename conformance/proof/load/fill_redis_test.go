package main

import (
	"context"
	"errors"
	"os"
	"strconv"
	"strings"

	"github.com/redis/go-redis/v9"

	"github.com/latchkey-go/latchkey/core/store"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
)

// inRedis fills the keys with a prefix. It observes what the store writes for one user and one session, and writes the
// same for all others.
type inRedis struct {
	client *redis.Client
	store  *redisstore.Store
	prefix string
	crowd  crowd

	person, session []written // with placeholders for their own texts
}

// written is a key with its text, or a member of a sorted set.
type written struct {
	key, text string
	set       bool
}

// timeForm is the beginning of all times that the store writes.
const timeForm = "2006-01-02T15:04:05"

func newRedisPlace(ctx context.Context, s *redisstore.Store, prefix string, c crowd) (*place, error) {
	options, err := redis.ParseURL(os.Getenv(redisURL))
	if err != nil {
		return nil, errors.New(redisURL + " is no address of a Redis server")
	}
	r := &inRedis{client: redis.NewClient(options), store: s, prefix: prefix, crowd: c}
	if _, err := s.CreateUser(ctx, c.person(0)); err != nil {
		return nil, err
	}
	if r.person, err = r.all(ctx); err != nil {
		return nil, err
	}
	if err := s.CreateSession(ctx, c.session(0)); err != nil {
		return nil, err
	}
	with, err := r.all(ctx)
	if err != nil {
		return nil, err
	}
	known := map[written]bool{}
	for _, w := range r.person {
		known[w] = true
	}
	for _, w := range with {
		if !known[w] {
			r.session = append(r.session, w)
		}
	}
	return &place{s, r}, s.DeleteUser(ctx, c.person(0).ID)
}

// all returns everything under the prefix.
func (r *inRedis) all(ctx context.Context) (all []written, err error) {
	err = r.keys(ctx, func(keys []string) error {
		for _, key := range keys {
			names, err := r.client.ZRange(ctx, key, 0, -1).Result()
			if redis.HasErrorPrefix(err, "WRONGTYPE") {
				text, err := r.client.Get(ctx, key).Result()
				if err != nil {
					return err
				}
				all = append(all, written{key, text, false})
				continue
			}
			if err != nil {
				return err
			}
			for _, name := range names {
				all = append(all, written{key, name, true})
			}
		}
		return nil
	})
	return all, err
}

// keys calls do with some keys of the prefix at a time, because one long scan would block the server's other clients.
func (r *inRedis) keys(ctx context.Context, do func([]string) error) error {
	for at := uint64(0); ; {
		keys, next, err := r.client.Scan(ctx, at, r.prefix+"*", 1000).Result()
		if err == nil && len(keys) > 0 {
			err = do(keys)
		}
		if at = next; err != nil || at == 0 {
			return err
		}
	}
}

// write repeats the writes of the first record for others, a thousand at a time.
func (r *inRedis) write(ctx context.Context, from, to int, learned []written, names func(int) *strings.Replacer) error {
	const many = 1000
	for from < to {
		pipe := r.client.Pipeline()
		for end := min(from+many, to); from < end; from++ {
			name := names(from)
			for _, w := range learned {
				key, text := name.Replace(w.key), name.Replace(w.text)
				if w.set {
					pipe.ZAdd(ctx, key, redis.Z{Member: text})
				} else {
					pipe.Set(ctx, key, text, 0)
				}
			}
		}
		if _, err := pipe.Exec(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (r *inRedis) people(ctx context.Context, from, to int) error {
	first := r.crowd.person(0)
	return r.write(ctx, from, to, r.person, func(n int) *strings.Replacer {
		u := r.crowd.person(n)
		return strings.NewReplacer(first.ID, u.ID, first.Email, u.Email)
	})
}

func (r *inRedis) sessions(ctx context.Context, from, to int) error {
	first, owner := r.crowd.session(0), r.crowd.person(0)
	at := func(s *store.Session) string { return s.Expires.UTC().Format(timeForm) }
	return r.write(ctx, from, to, r.session, func(n int) *strings.Replacer {
		s, u := r.crowd.session(n), r.crowd.person(n/devices)
		return strings.NewReplacer(
			string(first.Token), string(s.Token), owner.ID, u.ID, owner.Email, u.Email, at(first), at(s))
	})
}

// size returns the memory of the server.
func (r *inRedis) size(ctx context.Context) (float64, error) {
	memory, err := r.client.Info(ctx, "memory").Result()
	if err != nil {
		return 0, err
	}
	_, memory, _ = strings.Cut(memory, "used_memory:")
	memory, _, _ = strings.Cut(memory, "\r\n")
	return strconv.ParseFloat(memory, 64)
}

func (r *inRedis) clear(ctx context.Context) error {
	err := r.keys(ctx, func(keys []string) error { return r.client.Unlink(ctx, keys...).Err() })
	return errors.Join(err, r.store.Close(), r.client.Close())
}
