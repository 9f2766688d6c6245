// Package mailboxes finds users by email address in stores whose tables may contain other spellings of an address than
// the canonical one.
package mailboxes

import (
	"context"
	"errors"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/storecalls"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/mailaddr"
)

// Find returns the user of an address that a client sent. It looks up the canonical form, then the address exactly as
// sent, without surrounding blanks. An address that differs from the canonical form costs two lookups whether or not
// the first one finds a user, so that the response time does not reveal which addresses exist. Any other address costs
// one lookup. If both find a user, the first one wins, unless only the second one's address is verified. The error is
// store.ErrNotFound if there is no such user or the text is not a plain address.
func Find(ctx context.Context, users store.Store, address string) (*store.User, error) {
	canonical, err := mailaddr.Normalize(address)
	if err != nil {
		return nil, store.ErrNotFound
	}
	user, err := ByEmail(ctx, users, canonical)
	spelled, failed := bySpelling(ctx, users, canonical, address)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return spelled, failed
	case err == nil:
		return verifiedSpelling(user, spelled, failed, address)
	}
	return nil, err
}

// FindCanonical is Find for an address with a known canonical form. It makes the second lookup only if the first one
// finds no user or a user with an unverified address.
func FindCanonical(ctx context.Context, users store.Store, canonical, given string) (*store.User, error) {
	user, err := ByEmail(ctx, users, canonical)
	if errors.Is(err, store.ErrNotFound) {
		return bySpelling(ctx, users, canonical, given)
	}
	if err != nil || !user.EmailVerified.IsZero() {
		return user, err
	}
	spelled, failed := bySpelling(ctx, users, canonical, given)
	return verifiedSpelling(user, spelled, failed, given)
}

// FindTyped is FindCanonical for an address that an email is sent to. It also returns that address, which is the stored
// one if it is another spelling of the same mailbox.
func FindTyped(ctx context.Context, users store.Store, canonical, given string) (*store.User, string, error) {
	user, err := FindCanonical(ctx, users, canonical, given)
	if err == nil && Same(user.Email, canonical) {
		canonical = user.Email
	}
	return user, canonical, err
}

// FindFirst returns the user with the canonical form of an address or, if there is none, with the given spelling.
func FindFirst(ctx context.Context, users store.Store, canonical, given string) (*store.User, error) {
	user, err := ByEmail(ctx, users, canonical)
	if errors.Is(err, store.ErrNotFound) {
		return bySpelling(ctx, users, canonical, given)
	}
	return user, err
}

// verifiedSpelling chooses between the user with the canonical address and the user with another spelling. failed is
// the error of the second lookup. The second user wins if only its address is verified and equals the text that the
// client sent: an attacker can create the first user with an address that they do not own.
func verifiedSpelling(user, spelled *store.User, failed error, given string) (*store.User, error) {
	switch {
	case !user.EmailVerified.IsZero() || errors.Is(failed, store.ErrNotFound):
		return user, nil
	case failed != nil:
		return nil, failed
	case !spelled.EmailVerified.IsZero() && spelled.Email == strings.Trim(given, " \t"):
		return spelled, nil
	}
	return user, nil
}

// bySpelling returns the user whose stored address equals given, or equals canonical with its domain in ASCII. It
// returns store.ErrNotFound if given is canonical or belongs to another mailbox.
func bySpelling(ctx context.Context, users store.Store, canonical, given string) (*store.User, error) {
	for _, spelling := range spellings(canonical, given) {
		user, err := ByEmail(ctx, users, spelling)
		if err == nil && !Same(user.Email, canonical) { // a collation may ignore more than Normalize does
			err = store.ErrNotFound
		}
		if !errors.Is(err, store.ErrNotFound) {
			return user, err
		}
	}
	return nil, store.ErrNotFound
}

// spellings returns the forms other than the canonical one that a table may contain.
func spellings(canonical, given string) (all []string) {
	given = strings.Trim(given, " \t")
	if given == canonical || strings.Count(given, "@") != 1 || strings.Contains(given, ",") ||
		!Same(given, canonical) {
		return nil
	}
	all = append(all, given)
	ascii := mailaddr.ASCII(canonical)
	if ascii != canonical && ascii != given && strings.EqualFold(ascii, given) {
		all = append(all, ascii)
	}
	return all
}

// Same reports whether two texts are email addresses of the same mailbox. A text that is not a plain address never
// matches.
func Same(a, b string) bool {
	one, err := mailaddr.Normalize(a)
	if err != nil {
		return false
	}
	if a == b {
		return true
	}
	other, err := mailaddr.Normalize(b)
	return err == nil && one == other
}

// ByEmail returns the user with exactly this address. No user has an empty one.
func ByEmail(ctx context.Context, users store.Store, email string) (*store.User, error) {
	if email == "" {
		return nil, store.ErrNotFound
	}
	return storecalls.Present(users.UserByEmail(ctx, email)) // users may be the application's
}
