package core

import (
	"context"

	"github.com/latchkey-go/latchkey/internal/cookie"
)

// VisitCall starts the visit of a request that a program sends, such as an RPC call. Package access uses it. Refusals
// are for programs: a problem document, and never a page or a redirect.
//
// Scripts of other sites can make a browser send cookies with a call. So the cookies count only if the header Origin or
// Sec-Fetch-Site says that a page of this site, or of Config.TrustedOrigins, made the call. Programs use Authorization
// instead.
//
// If again is true, a stream checks its credentials again: the session is not extended, and an API key is not counted
// as used.
func (a *Auth) VisitCall(ctx context.Context, r *Request, again bool) *Visit {
	v := a.Visit(ctx, r)
	v.at.program, v.again = true, again
	if v.refused == nil && !v.at.fromOwnPage() {
		v.at.foreign = v.at.presentsSession() && !v.at.byBearer()
		v.at.jar = cookie.Jar{}
	}
	return v
}

// fromOwnPage reports whether a page of this site, or of a trusted origin, made a call according to the browser. A
// header with two values is not trusted: a gateway may have added the second one.
func (v *arrival) fromOwnPage() bool {
	origins, sites := v.r.Header["Origin"], v.r.Header["Sec-Fetch-Site"]
	switch {
	case len(origins) > 1, len(sites) > 1:
		return false
	case v.cors.Origin(v.r.Header) != "":
		return true
	case len(origins) == 1 && origins[0] != v.origin, len(sites) == 1 && sites[0] != "same-origin":
		return false
	}
	return len(origins)+len(sites) > 0
}
