package doctor

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

const (
	// mostAddresses is the maximum number of addresses that are read from a store.
	mostAddresses = 100_000
	// shownIDs is the maximum number of users that a line names.
	shownIDs = 3
)

var errEnough = errors.New("enough addresses were read")

// collation reports an email column whose unique index treats different addresses as equal.
func (e stores) collation(ctx context.Context, emailCollation func(context.Context) (found, fix string, err error)) {
	found, fix, err := emailCollation(ctx)
	switch {
	case err != nil:
		e.report.add("store", Unknown, "the collation of the email column could not be read: "+err.Error(),
			"check that the database user may read information_schema")
	case found != "":
		e.report.add("store", Unknown, found+" ignores case or accents: a user with a similar address prevents a sign-up",
			fix)
	}
}

// addresses reports users with an address that is not in canonical form. A sign-in with another spelling does not find
// such a user, and creates a second one. Only IDs are shown.
func (e stores) addresses(ctx context.Context, lister store.EmailLister) {
	read, odd := 0, []string(nil)
	err := lister.EachEmail(ctx, func(id, email string) error {
		if read++; read > mostAddresses {
			return errEnough
		}
		if canonical, err := core.NormalizeEmail(email); err != nil || canonical != email {
			odd = append(odd, id)
		}
		return nil
	})
	switch {
	case len(odd) > 0:
		named := odd[:min(len(odd), shownIDs)]
		verb := "have addresses that are"
		if len(odd) == 1 {
			verb = "has an address that is"
		}
		e.report.add("store", Wrong, fmt.Sprintf("%s %s not in the form of core.NormalizeEmail: %s", many(len(odd), "user"),
			verb, strings.Join(named, ", ")),
			"list them with \"latchkey-store emails\", and change them as in docs/moving/README.md: a sign-in with "+
				"another spelling creates a second user")
	case errors.Is(err, errEnough):
		e.report.add("store", Unknown, fmt.Sprintf("only %d addresses were read", mostAddresses),
			"\"latchkey-store emails\" lists all addresses that are not in the form of core.NormalizeEmail")
	case err != nil:
		e.report.add("store", Unknown, "the addresses of users could not be read: "+err.Error(),
			"\"latchkey-store emails\" lists those that are not in the form of core.NormalizeEmail")
	}
}
