package core

import (
	"context"

	"github.com/latchkey-go/latchkey/core/internal/mailboxes"
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
	return mailboxes.Find(ctx, users, address)
}

// SameMailbox reports whether two texts are email addresses of the same mailbox, which means that their canonical forms
// ([NormalizeEmail]) are equal. An empty text or a text that is not a plain address never matches.
func SameMailbox(a, b string) bool { return mailboxes.Same(a, b) }
