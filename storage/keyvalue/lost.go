package keyvalue

import (
	"context"

	"github.com/latchkey-go/latchkey/core/store"
)

// What follows is for engines that lose keys: one that evicts, or whose replica takes over without the last writes. An
// index that leads to no user is free, and who takes it ends what else the lost user has left behind.

// free makes ready for taking a name that has an owner already, who is gone. A name whose owner is there is
// [store.ErrConflict].
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
	v.outdate(id)
	return nil
}

// freeAddress makes ready for taking an address that leads to a user, or to none whose address it is.
func (v *view) freeAddress(ctx context.Context, email string) error {
	lost, _, err := v.addressee(ctx, email)
	switch {
	case err != nil:
		return err
	case lost == "":
		return store.ErrConflict
	}
	v.outdate(escaped(lost))
	return nil
}

// addressee reads the user of an address, both at one moment. lost is the id that the address leads to when that user
// is not there, or has another address.
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
			continue // between the two looks
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

// mendAddress lets the address of a user lead to them again when it has been lost.
func (v *view) mendAddress(ctx context.Context, id, user string) error {
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

// giveUp removes the address of a user, unless it leads to another one by now.
func (v *view) giveUp(ctx context.Context, id, email string) error {
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
