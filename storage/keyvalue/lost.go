package keyvalue

import (
	"context"

	"github.com/latchkey-go/latchkey/core/store"
)

// The functions of this file are for databases that can lose keys: by eviction, or by a failover to a replica without
// the last writes. An index entry without its user counts as free. A call that reuses it first deletes what remains of
// the lost user.

// free prepares the reuse of a name whose owner no longer exists. If the owner exists, it returns [store.ErrConflict].
func (v *view) free(ctx context.Context, kind, name string, taken Value) error {
	o, err := decode[owner](taken.Text)
	if err != nil {
		return err
	}
	id := escaped(o.UserID)
	if value, written := v.records[key("user", id)]; written && !value.Found {
		return errFreeLater
	}
	values, err := v.again(ctx, key("user", id), key("stale", id), key(kind, name))
	switch {
	case err != nil:
		return err
	case values[0].Found:
		return store.ErrConflict
	case values[1].Found && !v.stale[id]:
		return &leftoverError{id}
	}
	v.drop(key("user-"+kind+"s", id), name)
	v.markStale(id)
	return nil
}

// freeAddress prepares the reuse of an address if its index entry refers to a missing user, or to a user with another
// address.
func (v *view) freeAddress(ctx context.Context, email string) error {
	lost, _, err := v.addressee(ctx, email)
	switch {
	case err != nil:
		return err
	case lost == "":
		return store.ErrConflict
	}
	v.markStale(escaped(lost))
	return nil
}

// addressee reads the index entry of an address and its user, both from one snapshot. If that user does not exist or
// has another address, lost is the ID in the index entry.
func (v *view) addressee(ctx context.Context, email string) (lost, user string, err error) {
	at := emailKey(email)
	for range attempts {
		id, err := found(v.get(ctx, at))
		if err != nil {
			return "", "", err
		}
		values, err := v.again(ctx, at, key("user", escaped(id[0])))
		if err != nil {
			return "", "", err
		}
		if !values[0].Found || values[0].Text != id[0] {
			continue // changed between the two reads
		}
		if values[1].Found {
			o, err := decode[owner](values[1].Text)
			if err != nil || o.Email == email {
				return "", values[1].Text, err
			}
		}
		return id[0], "", nil
	}
	return "", "", ErrChanged
}

// restoreAddress restores the lost index entry of a user's address.
func (v *view) restoreAddress(ctx context.Context, id, user string) error {
	o, err := decode[owner](user)
	if err != nil || o.Email == "" {
		return err
	}
	at := emailKey(o.Email)
	values, err := v.get(ctx, at)
	if err == nil && !values[0].Found {
		v.put(at, id)
	}
	return err
}

// removeAddress deletes the index entry of a user's address, unless it now refers to another user.
func (v *view) removeAddress(ctx context.Context, id, email string) error {
	at := emailKey(email)
	if at == "" {
		return nil
	}
	values, err := v.get(ctx, at)
	if err == nil && values[0].Found && values[0].Text == id {
		v.remove(at)
	}
	return err
}
