// Package access decides who may call the procedures of an RPC server or the operations of an API. The adapters for
// Connect, gRPC and huma use it; see their documentation for a complete program.
//
//	access.Options{Rules: map[string]access.Rule{
//		"/orders.v1.Orders/List": access.Session(),
//		"/orders.v1.Orders/Sync": access.Principal(core.Scopes("orders:write")),
//	}}
package access

import (
	"net/http"
	"slices"

	"github.com/latchkey-go/latchkey/core"
)

// Rule decides who may call an RPC procedure or an operation of an API. Create one with [Public], [Session] or
// [Principal]. The zero value refuses all calls.
type Rule struct {
	check            func(v *core.Visit) *core.Response
	public, programs bool
}

// Check returns the response to a request that the rule does not allow, or nil.
func (r Rule) Check(v *core.Visit) *core.Response {
	if r.check == nil {
		return v.ProblemResponse(&core.Problem{
			Status: http.StatusForbidden, Code: "no_rule", Detail: "The server has no rule for this call.",
		})
	}
	return r.check(v)
}

// IsPublic reports whether the rule allows all calls.
func (r Rule) IsPublic() bool { return r.public }

// Programs reports whether the rule accepts the credentials of plugins, such as API keys.
func (r Rule) Programs() bool { return r.programs }

// Public returns a rule that allows all calls. The procedure can still read the session or the principal.
func Public() Rule {
	return Rule{func(*core.Visit) *core.Response { return nil }, true, true}
}

// Session returns a rule for signed-in users whom all guards allow, as [core.Visit.Require] does.
func Session(guards ...core.Guard) Rule {
	guards = slices.Clone(guards)
	return Rule{check: func(v *core.Visit) *core.Response {
		_, refusal := v.Require(guards...)
		return refusal
	}}
}

// Principal returns a rule for users and for programs with the credential of a plugin, such as an API key, whom all
// guards allow, as [core.Visit.RequirePrincipal] does.
func Principal(guards ...core.PrincipalGuard) Rule {
	guards = slices.Clone(guards)
	return Rule{programs: true, check: func(v *core.Visit) *core.Response {
		_, refusal := v.RequirePrincipal(guards...)
		return refusal
	}}
}
