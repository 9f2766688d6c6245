package core

import (
	"context"
	"net/netip"

	"github.com/latchkey-go/latchkey/core/internal/scopes"
)

// Principal is the user or program that makes a request: a user with a session, or the holder of another credential,
// such as an API key.
type Principal struct {
	// UserID is the ID of the user. It is empty for a credential that belongs to no user.
	UserID string
	// Actor is the ID of the user who impersonates this one, as in [Session.Actor], or empty.
	Actor string
	// Service is the service that the credential belongs to, such as apikey.NewKey.Service, or empty.
	Service string
	// Session is the user's session. It is nil if the request was made with another credential.
	Session *Session
	// Credential identifies the credential in logs, for example "apikey:3fJq…". It is public, and empty for a session.
	Credential string
	// Name is the name that the owner gave the credential. It is empty for a session.
	Name string
	// Scopes are the operations that the credential allows, for example "orders:read"; see [Principal.Allows]. They have
	// no meaning for a session, which allows everything that its user may do.
	Scopes []string
}

// Allows reports whether the principal has a scope. A user with a session has all scopes. A scope consists of segments
// that are separated by colons. In the scopes of a credential the segment "*" matches any segment, and at the
// end any number of segments: "orders:*" allows "orders:read" and "orders:items:read".
func (p *Principal) Allows(scope string) bool {
	return p.Session != nil || scopes.Allow(p.Scopes, scope)
}

// Credential is a kind of credential that a plugin adds, for programs that send it as "Authorization: Bearer <token>"
// (RFC 6750 section 2.1).
type Credential struct {
	// Matches reports whether a token has the format of this credential. It decides from the text alone, and is called
	// for every request with an Authorization header. If it returns true, the session cookie of the request is ignored.
	Matches func(token string) bool
	// Verify returns the principal, or nil if the token is not valid. client is the address of the client, or its /64
	// network for IPv6; it is invalid if it is unknown. A returned [*Problem] is sent to the client. Any other error
	// means that the token could not be checked, and the response has status 503 or 500. Core limits the wrong tokens of
	// a network before it calls Verify (limit.AttemptKey), and the requests with a valid one afterwards, by
	// Principal.Credential (limit.AttemptKeyUse). Verify is called concurrently.
	Verify func(ctx context.Context, token string, client netip.Prefix) (*Principal, error)
	// Unlimited means that wrong tokens are not limited. Set it only if Verify checks a signature and makes no query for a
	// wrong token. Tokens that expire after minutes need it: a network with many users sends many expired ones.
	Unlimited bool
}
