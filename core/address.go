package core

import (
	"context"
	"errors"
	"strings"

	"github.com/latchkey-go/latchkey/internal/mailaddr"
)

// NormalizeEmail returns the canonical form of an email address, in which addresses are stored, compared and mailed to:
// lower case, NFKC, without surrounding blanks, and with the domain in Unicode rather than ASCII ("ada@bücher.example"
// for "Ada@XN--BCHER-KVA.example"). An application that writes users to the store itself must write this form, because
// sign-in looks for it, and for the spelling that the client sent. A text that is not one plain address is an error,
// which does not repeat the text.
func NormalizeEmail(address string) (string, error) { return mailaddr.Normalize(address) }

// UserByMailbox returns the user of an email address that a client sent. It looks up the canonical form of the address
// ([NormalizeEmail]), then the address exactly as sent, without surrounding blanks, because tables that other libraries
// filled contain such addresses. An address that differs from the canonical form costs two lookups whether or not the
// first one finds a user, so that the response time does not reveal which addresses exist. Any other address costs one
// lookup. If both find a user, the first one wins, unless only the second one's address is verified. The error is
// [ErrNotFound] if there is no such user or the text is not a plain address.
func UserByMailbox(ctx context.Context, users Store, address string) (*User, error) {
	canonical, err := mailaddr.Normalize(address)
	if err != nil {
		return nil, ErrNotFound
	}
	user, err := userByEmail(ctx, users, canonical)
	spelled, failed := userBySpelling(ctx, users, canonical, address)
	switch {
	case errors.Is(err, ErrNotFound):
		return spelled, failed
	case err == nil:
		return verifiedSpelling(user, spelled, failed, address)
	}
	return nil, err
}

// userByMailbox is UserByMailbox for an address with a known canonical form. It makes the second lookup only if the
// first one finds no user or a user with an unverified address.
func userByMailbox(ctx context.Context, users Store, canonical, given string) (*User, error) {
	user, err := userByEmail(ctx, users, canonical)
	if errors.Is(err, ErrNotFound) {
		return userBySpelling(ctx, users, canonical, given)
	}
	if err != nil || !user.EmailVerified.IsZero() {
		return user, err
	}
	spelled, failed := userBySpelling(ctx, users, canonical, given)
	return verifiedSpelling(user, spelled, failed, given)
}

// verifiedSpelling chooses between the user with the canonical address and the user with another spelling. failed is
// the error of the second lookup. The second user wins if only its address is verified and equals the text that the
// client sent: an attacker can create the first user with an address that they do not own.
func verifiedSpelling(user, spelled *User, failed error, given string) (*User, error) {
	switch {
	case !user.EmailVerified.IsZero() || errors.Is(failed, ErrNotFound):
		return user, nil
	case failed != nil:
		return nil, failed
	case !spelled.EmailVerified.IsZero() && spelled.Email == strings.Trim(given, " \t"):
		return spelled, nil
	}
	return user, nil
}

// userBySpelling returns the user whose stored address equals given, or equals canonical with its domain in ASCII. It
// returns ErrNotFound if given is canonical or belongs to another mailbox.
func userBySpelling(ctx context.Context, users Store, canonical, given string) (*User, error) {
	for _, spelling := range spellings(canonical, given) {
		user, err := userByEmail(ctx, users, spelling)
		if err == nil && !SameMailbox(user.Email, canonical) { // a collation may ignore more than Normalize does
			err = ErrNotFound
		}
		if !errors.Is(err, ErrNotFound) {
			return user, err
		}
	}
	return nil, ErrNotFound
}

// spellings returns the forms other than the canonical one that a table may contain.
func spellings(canonical, given string) (all []string) {
	given = strings.Trim(given, " \t")
	if given == canonical || strings.Count(given, "@") != 1 || strings.Contains(given, ",") ||
		!SameMailbox(given, canonical) {
		return nil
	}
	all = append(all, given)
	ascii := mailaddr.ASCII(canonical)
	if ascii != canonical && ascii != given && strings.EqualFold(ascii, given) {
		all = append(all, ascii)
	}
	return all
}

// SameMailbox reports whether two texts are email addresses of the same mailbox, which means that their canonical forms
// ([NormalizeEmail]) are equal. An empty text or a text that is not a plain address never matches.
func SameMailbox(a, b string) bool {
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
