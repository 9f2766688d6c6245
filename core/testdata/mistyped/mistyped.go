// Package mistyped uses the data of sessions as another type than it is: the compiler refuses each line that says so.
package mistyped

import (
	"context"

	"github.com/latchkey-go/latchkey/core"
)

type shop struct{ Plan string }

type team struct{ Role string }

func (t team) Roles() []string { return []string{t.Role} }

func load(context.Context, *core.User) (shop, error) { return shop{}, nil }

var (
	shops = &core.SessionData[shop]{Load: load}
	teams = &core.SessionData[team]{Load: load}                         // want: the data of another type is loaded
	_     = core.Config{Data: shops}                                    //
	_     = core.Config{Data: core.SessionData[shop]{Load: load}}       // want: no pointer
	_     = core.Config{Data: shop{}}                                   // want: the type itself
	_     = shops.Guard(func(s shop) bool { return s.Plan == "large" }) //
	_     = shops.Guard(func(t team) bool { return t.Role == "admin" }) // want: a guard of another type
	_     = core.HasRole(teams, "admin")                                //
	_     = core.HasRole(shops, "admin")                                // want: a type without roles
)

func page(ctx context.Context) string {
	_, s, err := shops.FromContext(ctx)
	if err != nil {
		return ""
	}
	var t team = s // want: kept as another type
	return t.Role
}
