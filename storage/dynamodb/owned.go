package dynamodb

import (
	"context"
	"errors"
	"maps"

	"github.com/latchkey-go/latchkey/core/store"
)

// Sessions, accounts and passkeys belong to a user, and records may. Each is an item with its own key and an entry in
// the user's partition. The entry is written before the item and deleted after it: so every item can be found by its
// user, and an entry alone has no meaning. Both contain the nonce of the call that wrote them, so that no call deletes
// what another has written at the same key.

// owned reads and writes what belongs to users.
type owned struct{ *table }

// add stores an item that belongs to a user. It returns ErrConflict if its key is taken, and ErrNotFound if the user
// does not exist. It replaces an existing item without a user, which is the result of a concurrent deletion of that
// user.
func (o *owned) add(ctx context.Context, user string, entry, k key, entryAttributes, attributes item) error {
	if !entry.possible() || !k.possible() {
		return errKey
	}
	mine := item{nonceName: nonce(), "userId": str(user)}
	if err := o.put(ctx, entry, merged(entryAttributes, mine), condition{}); err != nil {
		return err
	}
	for {
		err := o.put(ctx, k, merged(attributes, mine), o.isFree())
		if err == nil {
			break
		}
		if !errors.Is(err, errCondition) {
			return err
		}
		there, err := o.get(ctx, k)
		if err != nil {
			return err
		}
		if plain(there, nonceName) == plain(mine, nonceName) {
			break // the client retried, and the first attempt had succeeded
		}
		removed, err := o.removeOrphan(ctx, k, there)
		if err != nil {
			return err
		}
		if removed {
			continue
		}
		if plain(there, "userId") != user {
			if err := o.discard(ctx, entry, mine); err != nil {
				return err
			}
		}
		return store.ErrConflict
	}
	_, err := o.must(ctx, userKey(user))
	if errors.Is(err, store.ErrNotFound) {
		if err := o.discard(ctx, k, mine); err != nil {
			return err
		}
		if err := o.discard(ctx, entry, mine); err != nil {
			return err
		}
	}
	return err
}

// removeOrphan deletes an item whose user does not exist. It reports whether its key may be free now.
func (o *owned) removeOrphan(ctx context.Context, k key, there item) (bool, error) {
	switch {
	case len(there) == 0:
		return true, nil
	case plain(there, "userId") == "": // a record without a user
		return false, nil
	}
	_, err := o.must(ctx, userKey(plain(there, "userId")))
	if !errors.Is(err, store.ErrNotFound) {
		return false, err
	}
	return true, o.discard(ctx, k, there)
}

// discard deletes an item if it still has the nonce of this write.
func (o *owned) discard(ctx context.Context, k key, of item) error {
	_, err := o.remove(ctx, k, is(nonceName, "=", str(plain(of, nonceName))))
	return ignored(err)
}

// take deletes an item and then its entry, and returns the item. Of concurrent calls only one gets it.
func (o *owned) take(ctx context.Context, k key, entry func(of item) key) (item, error) {
	old, err := o.remove(ctx, k, condition{})
	if err != nil {
		return nil, err
	}
	if len(old) == 0 {
		return nil, store.ErrNotFound
	}
	return old, o.discard(ctx, entry(old), old)
}

// list reads the items that belong to a user, by entries with a prefix of the sort key.
func (o *owned) list(ctx context.Context, user, prefix string, keyOf func(entry item) key) ([]item, error) {
	entries, err := o.partition(ctx, "USER#"+user, prefix)
	if err != nil {
		return nil, err
	}
	var keys []key
	for _, entry := range entries {
		keys = append(keys, keyOf(entry))
	}
	all, err := o.getAll(ctx, keys)
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
func (o *owned) ownKey(entry item) (key, bool) {
	switch kind, rest := cut(o.keyOf(entry).sort); kind {
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
func (o *owned) removeOwned(ctx context.Context, user string) error {
	entries, err := o.partition(ctx, "USER#"+user, "")
	if err != nil {
		return err
	}
	for _, entry := range entries {
		k, ok := o.ownKey(entry)
		if !ok {
			continue
		}
		if _, err := o.remove(ctx, k, is("userId", "=", str(user))); ignored(err) != nil {
			return err
		}
		if _, err := o.remove(ctx, o.keyOf(entry), condition{}); err != nil {
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
