package dynamodb

import (
	"context"
	"errors"
	"maps"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/latchkey-go/latchkey/core/store"
)

// Sessions, accounts and passkeys belong to a user, and records may. Each is an item with its own key and an entry in
// the user's partition. The entry is written before the item and deleted after it: so every item can be found by its
// user, and an entry alone has no meaning. Both contain the nonce of the call that wrote them, so that no call deletes
// what another has written at the same key.

// add stores an item that belongs to a user. It returns ErrConflict if its key is taken, and ErrNotFound if the user
// does not exist. It replaces an existing item without a user, which is the result of a concurrent deletion of that
// user.
func (s *Store) add(ctx context.Context, user string, entry, k key, entryAttributes, attributes item) error {
	if !entry.possible() || !k.possible() {
		return errKey
	}
	mine := item{nonceName: nonce(), "userId": str(user)}
	if err := s.put(ctx, entry, merged(entryAttributes, mine), condition{}); err != nil {
		return err
	}
	for {
		err := s.put(ctx, k, merged(attributes, mine), s.isFree())
		if err == nil {
			break
		}
		if !errors.Is(err, errCondition) {
			return err
		}
		there, err := s.get(ctx, k)
		if err != nil {
			return err
		}
		if plain(there, nonceName) == plain(mine, nonceName) {
			break // the client retried, and the first attempt had succeeded
		}
		removed, err := s.removeOrphan(ctx, k, there)
		if err != nil {
			return err
		}
		if removed {
			continue
		}
		if plain(there, "userId") != user {
			if err := s.discard(ctx, entry, mine); err != nil {
				return err
			}
		}
		return store.ErrConflict
	}
	_, err := s.must(ctx, userKey(user))
	if errors.Is(err, store.ErrNotFound) {
		if err := s.discard(ctx, k, mine); err != nil {
			return err
		}
		if err := s.discard(ctx, entry, mine); err != nil {
			return err
		}
	}
	return err
}

// removeOrphan deletes an item whose user does not exist. It reports whether its key may be free now.
func (s *Store) removeOrphan(ctx context.Context, k key, there item) (bool, error) {
	switch {
	case len(there) == 0:
		return true, nil
	case plain(there, "userId") == "": // a record without a user
		return false, nil
	}
	_, err := s.must(ctx, userKey(plain(there, "userId")))
	if !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	return true, s.discard(ctx, k, there)
}

// discard deletes an item if it still has the nonce of this write.
func (s *Store) discard(ctx context.Context, k key, of item) error {
	_, err := s.remove(ctx, k, is(nonceName, "=", str(plain(of, nonceName))))
	return ignored(err)
}

// take deletes an item and then its entry, and returns the item. Of concurrent calls only one gets it.
func (s *Store) take(ctx context.Context, k key, entry func(of item) key) (item, error) {
	old, err := s.remove(ctx, k, condition{})
	if err != nil {
		return nil, err
	}
	if len(old) == 0 {
		return nil, store.ErrNotFound
	}
	return old, s.discard(ctx, entry(old), old)
}

// takeAll takes items one after another, and returns the number of those that no other call has deleted.
func takeAll(ctx context.Context, operation string, items []item, err error, take func(item) error) (n int, _ error) {
	for _, of := range items {
		switch err := take(of); {
		case err == nil:
			n++
		case !errors.Is(err, store.ErrNotFound):
			return n, failed(ctx, operation, err)
		}
	}
	return n, failed(ctx, operation, err)
}

// list reads the items that belong to a user, by entries with a prefix of the sort key.
func (s *Store) list(ctx context.Context, user, prefix string) ([]item, error) {
	entries, err := s.partition(ctx, "USER#"+user, prefix)
	if err != nil {
		return nil, err
	}
	var keys []key
	for _, entry := range entries {
		k, _ := s.ownKey(entry)
		keys = append(keys, k)
	}
	all, err := s.getAll(ctx, keys)
	if err != nil {
		return nil, err
	}
	var theirs []item
	for _, of := range all {
		if plain(of, "userId") == user {
			theirs = append(theirs, of)
		}
	}
	return theirs, nil
}

// ownKey returns the key of the item of an entry. The second result is false if the item is not an entry.
func (s *Store) ownKey(entry item) (key, bool) {
	switch kind, rest := cut(s.keyOf(entry).sort); kind {
	case "SESSION":
		return sessionKey(rest), true
	case "REC":
		return recordKey(rest), true
	case "AUTHENTICATOR":
		return credentialKey(plain(entry, "credentialID")), true
	case "ACCOUNT":
		return accountKey(plain(entry, "provider"), plain(entry, "providerAccountId")), true
	}
	return key{}, false
}

// removeOwned deletes everything that belongs to a user except the user's own item.
func (s *Store) removeOwned(ctx context.Context, user string) error {
	entries, err := s.partition(ctx, "USER#"+user, "")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		k, ok := s.ownKey(entry)
		if !ok {
			continue
		}
		if _, err := s.remove(ctx, k, is("userId", "=", str(user))); ignored(err) != nil {
			return err
		}
		if _, err := s.remove(ctx, s.keyOf(entry), condition{}); err != nil {
			return err
		}
	}
	return nil
}

// without returns a copy of an item without some attributes.
func without(of item, names ...string) item {
	rest := maps.Clone(of)
	for _, name := range names {
		delete(rest, name)
	}
	return rest
}

// getAll reads items by their keys. It omits missing items, and the order is arbitrary.
func (s *Store) getAll(ctx context.Context, keys []key) (all []item, err error) {
	for len(keys) > 0 {
		n := min(len(keys), batch)
		var list []item
		for _, k := range keys[:n] {
			list = append(list, s.key(k))
		}
		keys = keys[n:]
		wanted := map[string]types.KeysAndAttributes{s.layout.Table: {Keys: list, ConsistentRead: aws.Bool(true)}}
		for wait := firstWait; len(wanted) > 0; wait *= 2 {
			out, err := s.client.BatchGetItem(ctx, &dynamodb.BatchGetItemInput{RequestItems: wanted})
			if err != nil {
				return nil, err
			}
			all = append(all, out.Responses[s.layout.Table]...)
			if wanted = out.UnprocessedKeys; len(wanted) == 0 {
				break
			}
			timer := time.NewTimer(wait)
			select {
			case <-ctx.Done():
				timer.Stop()
				return nil, ctx.Err()
			case <-timer.C:
			}
		}
	}
	return all, nil
}
