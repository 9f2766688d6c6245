package redisstore

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/latchkey-go/latchkey/core/store"
)

// ImportAuthJS copies the data of Auth.js's adapter for Upstash Redis, with its default key prefixes, into a Store.
// basePrefix is the adapter's baseKeyPrefix, usually empty. from must not be a Cluster client, because only one node is
// scanned.
//
// It returns the number of records that it created. Existing records in the Store are not changed, so ImportAuthJS may
// run again, after a failure or to fetch later changes. It omits records whose user does not exist. It changes nothing
// in from.
func ImportAuthJS(ctx context.Context, from redis.UniversalClient, basePrefix string, into *Store) (int, error) {
	i := authJS{ctx: ctx, from: from, prefix: basePrefix + "user:", into: into}
	if err := i.each(i.user); err != nil { // first, because all other records belong to users
		return i.made, fmt.Errorf("redis: import: %w", err)
	}
	if err := i.each(i.owned); err != nil {
		return i.made, fmt.Errorf("redis: import: %w", err)
	}
	return i.made, nil
}

// authJS is an import in progress.
type authJS struct {
	ctx    context.Context
	from   redis.UniversalClient
	prefix string
	into   *Store
	made   int
}

// The kinds of the adapter's records, by the part of the key after the prefix. Index entries are not imported.
const (
	indexes  = ""
	users    = "user"
	accounts = "account"
	sessions = "session"
	tokens   = "token"
)

var kinds = []struct{ prefix, kind string }{
	{"account:by-user-id:", indexes}, {"session:by-user-id:", indexes}, {"email:", indexes},
	{"account:", accounts}, {"session:", sessions}, {"token:", tokens}, {"", users},
}

// each calls do with all records, some of them twice.
func (i *authJS) each(do func(kind, text string) error) error {
	pattern := strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(i.prefix) + "*"
	for cursor := uint64(0); ; {
		keys, next, err := i.from.Scan(i.ctx, cursor, pattern, 500).Result()
		if err != nil {
			return err
		}
		for _, key := range keys {
			rest := key[len(i.prefix):]
			n := slices.IndexFunc(kinds, func(k struct{ prefix, kind string }) bool {
				return strings.HasPrefix(rest, k.prefix)
			})
			kind := kinds[n].kind
			if kind == indexes {
				continue
			}
			text, err := i.from.Get(i.ctx, key).Result()
			if errors.Is(err, redis.Nil) {
				continue // deleted meanwhile
			}
			if err != nil {
				return err
			}
			if err := i.counted(kind, do(kind, text)); err != nil {
				return err
			}
		}
		if cursor = next; cursor == 0 {
			return nil
		}
	}
}

// errOther means that a record is of another kind than the one being copied.
var errOther = errors.New("another kind")

func (i *authJS) counted(kind string, err error) error {
	switch {
	case err == nil:
		i.made++
	case errors.Is(err, errOther), errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrNotFound):
	default:
		return fmt.Errorf("a record of kind %s: %w", kind, err)
	}
	return nil
}

// errUnreadable replaces errors that may contain the data.
var errUnreadable = errors.New("not written by the adapter")

func (i *authJS) user(kind, text string) error {
	if kind != users {
		return errOther
	}
	var u store.User
	if json.Unmarshal([]byte(text), &u) != nil {
		return errUnreadable
	}
	_, err := i.into.CreateUser(i.ctx, &u)
	return err
}

func (i *authJS) owned(kind, text string) error {
	var record store.Members
	if kind == users {
		return errOther
	}
	if json.Unmarshal([]byte(text), &record) != nil {
		return errUnreadable
	}
	take := func(name string) string {
		text := record.Text(name)
		if text != "" || string(record[name]) == "null" {
			delete(record, name)
		}
		return text
	}
	at := func() (time.Time, error) {
		t, err := time.Parse(time.RFC3339Nano, take("expires"))
		if err != nil {
			err = errUnreadable
		}
		return t, err
	}
	switch kind {
	case accounts:
		a := store.Account{
			UserID: take("userId"), Type: store.ProviderType(take("type")),
			Provider: take("provider"), ProviderAccountID: take("providerAccountId"),
			AccessToken: store.Secret(take("access_token")), RefreshToken: store.Secret(take("refresh_token")),
			IDToken: store.Secret(take("id_token")), Scope: take("scope"), TokenType: take("token_type"),
			SessionState: record["session_state"], AuthorizationDetails: record["authorization_details"],
		}
		if seconds := int64(0); record.Get("expires_at", &seconds) {
			a.SetExpiresAtUnix(seconds)
			delete(record, "expires_at")
		}
		// The ID is derived from provider and account.
		for _, name := range []string{"id", "session_state", "authorization_details", "expires_in"} {
			delete(record, name)
		}
		a.Extra = record
		return i.into.LinkAccount(i.ctx, &a)
	case sessions:
		expires, err := at()
		if err != nil {
			return err
		}
		return i.into.CreateSession(i.ctx, &store.Session{
			Token: store.Secret(take("sessionToken")), UserID: take("userId"), Expires: expires,
		})
	case tokens:
		expires, err := at()
		if err != nil {
			return err
		}
		return i.into.CreateVerificationToken(i.ctx, &store.VerificationToken{
			Identifier: take("identifier"), Token: take("token"), Expires: expires,
		})
	}
	return errOther
}
