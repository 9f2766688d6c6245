package dynamodb

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/latchkey-go/latchkey/core/store"
)

// userNames are the attributes of a user that are not in Extra.
var userNames = []string{"type", "name", "email", "emailVerified", "image"}

// userOf decodes a user.
func (s *Store) userOf(of item) (*store.User, error) {
	id, _, err := text(of, "id")
	if err != nil {
		return nil, err
	}
	u := store.User{ID: id}
	var name, image bool
	if u.Name, name, err = text(of, "name"); err != nil {
		return nil, err
	}
	if u.Email, _, err = text(of, "email"); err != nil {
		return nil, err
	}
	if u.Image, image, err = text(of, "image"); err != nil {
		return nil, err
	}
	if name {
		u.Null |= store.NullName
	}
	if image {
		u.Null |= store.NullImage
	}
	if u.EmailVerified, err = fromISO(of, "emailVerified"); err != nil {
		return nil, err
	}
	if u.Extra, err = s.members(of, userNames); err != nil {
		return nil, err
	}
	return u.AsStored(), nil
}

// userItem returns the item of a user. before is the stored item, or nil.
func (s *Store) userItem(u *store.User, before item) (item, error) {
	if err := storable(u.ID, u.Name, u.Email, u.Image); err != nil {
		return nil, err
	}
	of := item{"id": str(u.ID), "type": str("USER"), "emailVerified": &types.AttributeValueMemberNULL{Value: true}}
	for name, value := range map[string]struct {
		text string
		null store.Nulls
	}{"name": {u.Name, u.Null & store.NullName}, "image": {u.Image, u.Null & store.NullImage}} {
		of[name] = str(value.text)
		if value.text == "" && value.null != 0 {
			of[name] = &types.AttributeValueMemberNULL{Value: true}
		}
	}
	if u.Email != "" {
		of["email"] = str(u.Email)
		s.indexed(of, "USER#"+u.Email, "USER#"+u.Email)
	}
	if !u.EmailVerified.IsZero() {
		at, err := iso(u.EmailVerified)
		if err != nil {
			return nil, err
		}
		of["emailVerified"] = at
	}
	return of, s.write(of, u.Extra, userNames, before)
}

// CreateUser implements [store.Store]. It uses the ID of u, which must not be empty. If the process crashes during the
// call, it may leave a user that no lookup by address or account finds.
func (s *Store) CreateUser(ctx context.Context, u *store.User) (*store.User, error) {
	const operation = "create user"
	made, err := s.createUser(ctx, u)
	return made, failed(ctx, operation, err)
}

func (s *Store) createUser(ctx context.Context, u *store.User) (*store.User, error) {
	if u.ID == "" {
		return nil, errors.New("the user has no id")
	}
	of, err := s.userItem(u, nil)
	if err != nil {
		return nil, err
	}
	k := userKey(u.ID)
	of[nonceName], of[revisionName] = nonce(), revision(0)
	if !addressKey(u.Email).possible() {
		return nil, errKey
	}
	if err := s.put(ctx, k, of, s.isFree()); errors.Is(err, errCondition) {
		there, err := s.get(ctx, k)
		if err != nil {
			return nil, err
		}
		if plain(there, nonceName) != plain(of, nonceName) { // else the client retried after a success
			return nil, store.ErrConflict
		}
	} else if err != nil {
		return nil, err
	}
	if u.Email != "" {
		if err := s.reserve(ctx, u.Email, u.ID); err != nil {
			if errors.Is(err, store.ErrConflict) {
				err = errors.Join(err, s.discard(ctx, k, of))
			}
			return nil, err
		}
	}
	return s.userOf(of)
}

func (s *Store) readUser(ctx context.Context, operation, id string) (*store.User, error) {
	of, err := s.must(ctx, userKey(id))
	return decoded(ctx, operation, of, err, s.userOf)
}

// User implements [store.Store].
func (s *Store) User(ctx context.Context, id string) (*store.User, error) {
	return s.readUser(ctx, "read user", id)
}

// UserByEmail implements [store.Store] with two reads.
func (s *Store) UserByEmail(ctx context.Context, email string) (*store.User, error) {
	const operation = "read user by e-mail"
	guard, err := s.must(ctx, addressKey(email))
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	u, err := s.readUser(ctx, operation, plain(guard, "userId"))
	if err == nil && u.Email != email {
		return nil, store.ErrNotFound // the guard of an address during an interrupted change
	}
	return u, err
}

// UserByAccount implements [store.Store] with two reads.
func (s *Store) UserByAccount(ctx context.Context, provider, providerAccountID string) (*store.User, error) {
	const operation = "read user by account"
	account, err := s.must(ctx, accountKey(provider, providerAccountID))
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	return s.readUser(ctx, operation, plain(account, "userId"))
}

// UpdateUser implements [store.Store]. It does not rewrite attributes that already have the value of u. If the process
// crashes during the call, a new address may stay reserved for the user until the next UpdateUser.
func (s *Store) UpdateUser(ctx context.Context, u *store.User) (*store.User, error) {
	const operation = "update user"
	_, err := s.userItem(u, nil)
	if err == nil && !addressKey(u.Email).possible() {
		err = errKey
	}
	var written item
	if err == nil {
		err = s.change(ctx, u.ID, &u.Email, func(before item) (item, error) {
			of, err := s.userItem(u, before)
			if err != nil {
				return nil, err
			}
			if v := before[nonceName]; v != nil {
				of[nonceName] = v
			}
			written = of
			return of, nil
		})
	}
	if err != nil {
		return nil, failed(ctx, operation, err)
	}
	updated, err := s.userOf(written)
	return updated, failed(ctx, operation, err)
}

// DeleteUser implements [store.UserDeleter]. It deletes the user's own item last. If it fails, it may have deleted a
// part: call it again.
func (s *Store) DeleteUser(ctx context.Context, id string) error {
	return failed(ctx, "delete user", s.deleteUser(ctx, id))
}

// deleteUser deletes the user only if the revision has not changed since the copies were deleted. Then it deletes what
// was added meanwhile.
func (s *Store) deleteUser(ctx context.Context, id string) error {
	for {
		b, err := s.begin(ctx, id, nil)
		if err != nil {
			return err
		}
		if err := s.removeOwned(ctx, id); err != nil {
			return err
		}
		_, err = s.remove(ctx, userKey(id), s.atRevision(b.revision))
		if errors.Is(err, errCondition) {
			there, failure := s.get(ctx, userKey(id))
			if failure == nil && len(there) > 0 {
				continue // another call has started a change
			}
			err = failure // deleted: the client had already tried it and lost the response
		}
		if err != nil {
			return err
		}
		for _, email := range []string{plain(b.user, "email"), plain(b.user, nextName)} {
			if email == "" {
				continue
			}
			if _, err := s.remove(ctx, addressKey(email), is("userId", "=", str(id))); ignored(err) != nil {
				return err
			}
		}
		return s.removeOwned(ctx, id)
	}
}

// ListUsers implements [store.UserFinder], in the order of the partitions. It reads the whole table, with the
// corresponding cost, page by page: about ten items for each user of a page, and further ones until it has found a
// user. The cursor is the last ID. It is not the key of the last item, which can contain the token of a session.
func (s *Store) ListUsers(ctx context.Context, cursor string, limit int) (all []*store.User, next string, err error) {
	const operation = "list users"
	limit = store.PageLimit(limit)
	var at item
	if cursor != "" {
		if !userKey(cursor).possible() {
			return nil, "", failed(ctx, operation, store.ErrCursor)
		}
		at = s.key(userKey(cursor))
	}
	var found []item
	for more := true; more && len(found) == 0; more = len(at) > 0 {
		var items []item
		if items, at, err = s.scanned(ctx, is("type", "=", str("USER")), at, store.PageLimit(10*limit)); err != nil {
			return nil, "", failed(ctx, operation, err)
		}
		for _, of := range items {
			if s.keyOf(of) == userKey(plain(of, "id")) {
				found = append(found, of)
			}
		}
	}
	more := len(found) > limit || len(at) > 0 && len(found) > 0
	found = found[:min(len(found), limit)]
	all, err = allDecoded(ctx, operation, found, nil, s.userOf)
	if err == nil && more {
		next = all[len(all)-1].ID
	}
	return all, next, err
}

// ListUsersByEmail implements [store.UserFinder]. It always returns [store.ErrUnsupported]: partition keys are hashed,
// so no index of the table finds a prefix.
func (s *Store) ListUsersByEmail(
	ctx context.Context, _, _ string, _ int,
) (list []*store.User, next string, err error) {
	return nil, "", failed(ctx, "list users by e-mail", store.ErrUnsupported)
}

// iso converts a time to the form that Auth.js uses except for expiries, rounded down to the millisecond.
func iso(t time.Time) (types.AttributeValue, error) {
	t = time.UnixMilli(t.UnixMilli()).UTC()
	if y := t.Year(); y < 1 || y > 9999 {
		return nil, errors.New("time out of range: the year must be from 1 to 9999")
	}
	return str(t.Format(isoForm)), nil
}

func fromISO(of item, name string) (time.Time, error) {
	v, null, err := text(of, name)
	if err != nil || null {
		return time.Time{}, err
	}
	t, err := time.Parse(time.RFC3339Nano, v)
	if err != nil {
		return time.Time{}, fmt.Errorf("the attribute %s is not a time", name)
	}
	return t.UTC(), nil
}

// isoForm is the format of JavaScript's toISOString.
const isoForm = "2006-01-02T15:04:05.000Z"
