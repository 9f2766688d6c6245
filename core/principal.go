package core

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"sync"

	"github.com/latchkey-go/latchkey/core/internal/tokensource"
	"github.com/latchkey-go/latchkey/core/limit"
)

// Principal is who makes a request: a user with a session, or the holder of another credential, such as an API key.
type Principal struct {
	// UserID is the ID of the user. It is empty for a credential that belongs to no user.
	UserID string
	// Session is the user's session. It is nil if the request was made with another credential.
	Session *Session
	// Credential identifies the credential in logs, for example "apikey:3fJq…". It is public, and empty for a session.
	Credential string
	// Name is the name that the owner gave the credential. It is empty for a session.
	Name string
	// Scopes are what the credential allows, for example "orders:read"; see [Principal.Allows]. They have no meaning for
	// a session, which allows everything that its user may do.
	Scopes []string
}

// Allows reports whether the principal has a scope. A user with a session has all scopes. A scope consists of segments
// that are separated by colons. In the scopes of a credential the segment "*" matches any segment, and at the
// end any number of segments: "orders:*" allows "orders:read" and "orders:items:read".
func (p *Principal) Allows(scope string) bool {
	return p.Session != nil || slices.ContainsFunc(p.Scopes, func(own string) bool { return covers(own, scope) })
}

func covers(own, scope string) bool {
	have, want := strings.Split(own, ":"), strings.Split(scope, ":")
	for i, segment := range have {
		last := i == len(have)-1
		switch {
		case i >= len(want) || segment != "*" && segment != want[i]:
			return false
		case last && segment == "*":
			return true
		}
	}
	return len(have) == len(want)
}

// PrincipalGuard decides whether a principal may make a request. It returns nil if so, and [ErrForbidden] if not. Any
// other error is logged, and the response has status 500.
type PrincipalGuard func(ctx context.Context, p *Principal) error

// Scopes returns a guard that requires all of the scopes. A client whose credential lacks one gets status 403 with the
// challenge insufficient_scope (RFC 6750 section 3.1). Users with a session have all scopes.
func Scopes(all ...string) PrincipalGuard {
	all = slices.Clone(all)
	return func(_ context.Context, p *Principal) error {
		for _, scope := range all {
			if !p.Allows(scope) {
				return &missingScope{all}
			}
		}
		return nil
	}
}

// missingScope is the error of [Scopes].
type missingScope struct{ required []string }

func (e *missingScope) Error() string {
	return "core: the credential lacks a scope: it needs " + strings.Join(e.required, " ")
}

func (e *missingScope) Unwrap() error { return ErrForbidden }

// Credential is a kind of credential that a plugin adds, for programs that send it as "Authorization: Bearer <token>"
// (RFC 6750 section 2.1).
type Credential struct {
	// Matches reports whether a token has the format of this credential. It decides from the text alone, and is called
	// for every request with an Authorization header. A request with such a token is never made by the user of a cookie.
	Matches func(token string) bool
	// Verify returns the principal, or nil if the token is not valid. client is the address of the client, or its /64
	// network for IPv6; it is invalid if it is unknown. A returned [*Problem] is sent to the client. Any other error
	// means that the token could not be checked, and the response has status 503 or 500. Core limits the wrong tokens of
	// a network before it calls Verify (limit.AttemptKey), and the requests with a valid one afterwards, by
	// Principal.Credential (limit.AttemptKeyUse). Verify is called concurrently.
	Verify func(ctx context.Context, token string, client netip.Prefix) (*Principal, error)
}

// AddCredential adds a kind of credential. Handlers that [Visit.RequirePrincipal] protects accept it; those that
// [Visit.Require] protects do not.
func (h *PluginHost) AddCredential(c Credential) {
	h.attaching("AddCredential")
	if c.Matches == nil || c.Verify == nil {
		h.fault("AddCredential: Matches and Verify must be set")
		return
	}
	h.Auth.site.credentials = append(h.Auth.site.credentials, c)
}

// credential returns the credential in the Authorization header, or nil if the header has none. If there are several
// headers and one has a credential, it is an error of the client; see [arrival.bearer].
func (v *arrival) credential() (kind *Credential, token string) {
	if len(v.credentials) == 0 {
		return nil, ""
	}
	for _, line := range v.r.Header["Authorization"] {
		token, _, err := tokensource.Bearer(http.Header{"Authorization": {line}})
		if err != nil || token == "" {
			continue
		}
		for i := range v.credentials {
			if v.credentials[i].Matches(token) {
				return &v.credentials[i], token
			}
		}
	}
	return nil, ""
}

// validTokens remembers hashes of tokens that were valid in this process. Their requests are not counted as attempts,
// so that wrong tokens of a network do not stop its valid ones. It says nothing about whether a token is still valid.
type validTokens struct {
	mu   sync.Mutex
	seen map[[sha256.Size]byte]struct{}
}

// maxValidTokens is the maximum number of hashes. If there are more, all are forgotten.
const maxValidTokens = 1 << 14

func (t *validTokens) has(hash [sha256.Size]byte) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	_, ok := t.seen[hash]
	return ok
}

func (t *validTokens) add(hash [sha256.Size]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.seen == nil || len(t.seen) >= maxValidTokens {
		t.seen = map[[sha256.Size]byte]struct{}{}
	}
	t.seen[hash] = struct{}{}
}

func (t *validTokens) remove(hash [sha256.Size]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.seen, hash)
}

// verifyCredential returns the principal of a credential, or nil if it is not valid.
func (a *Auth) verifyCredential(ctx context.Context, v *arrival, kind *Credential, token string) (*Principal, error) {
	if _, _, err := v.bearer(); err != nil {
		return nil, nil
	}
	hash, limits := sha256.Sum256([]byte(token)), a.plugins.limits
	c, attempt := &call{arrival: *v}, newAttempt(limit.AttemptKey, "")
	known := a.validTokens.has(hash)
	if !known {
		if err := limits.ask(ctx, c, attempt); err != nil {
			return nil, err
		}
	}
	p, err := guarded("Credential.Verify", func() (*Principal, error) {
		return kind.Verify(ctx, token, v.client().network)
	})
	switch {
	case err != nil || p == nil && known:
		a.validTokens.remove(hash)
	case p != nil && !known:
		a.validTokens.add(hash)
		limits.right(ctx, c, attempt)
	}
	if p != nil && err == nil && p.Credential != "" {
		err = limits.ask(ctx, c, newAttempt(limit.AttemptKeyUse, p.Credential))
	}
	if err != nil {
		return nil, err
	}
	return p, nil
}

// Principal returns who makes the request, or nil if it has neither a valid credential nor a session. It is determined
// once for each request. An error means that it is unknown, for example because the store failed.
func (v *Visit) Principal() (*Principal, error) {
	v.principalRead.Do(func() { v.principal, v.principalFailed = v.readPrincipal() })
	return v.principal, v.principalFailed
}

func (v *Visit) readPrincipal() (*Principal, error) {
	if v.refused == nil {
		if kind, token := v.at.credential(); kind != nil {
			v.dependsOnSession()
			return v.auth.verifyCredential(v.Context, &v.at, kind, token)
		}
	}
	session, err := v.Session()
	if err != nil || session == nil || session.User == nil {
		return nil, err
	}
	return &Principal{UserID: session.UserID, Session: session}, nil
}

// PrincipalFrom returns who makes the request, or nil if it has neither a valid credential nor a session. Like
// [SessionFrom], it returns an error if the request hook is missing or if the store fails. A handler behind
// [Visit.RequirePrincipal] always has a principal.
func PrincipalFrom(ctx context.Context) (*Principal, error) {
	v := visitFrom(ctx)
	if v == nil {
		return nil, &Error{Type: ErrInvalidConfig, Cause: ErrNoHook}
	}
	return v.Principal()
}

// RequirePrincipal returns the principal if the request has a session or a valid credential and all guards allow it.
// Otherwise it returns the response to send: for a wrong credential 401 with a challenge (RFC 6750 section 3.1), for
// too many of them 429, for a missing scope 403, and without a credential the same as [Visit.Require].
func (v *Visit) RequirePrincipal(guards ...PrincipalGuard) (*Principal, *Response) {
	p, err := v.Principal()
	var problem *Problem
	var soon *tooMany
	switch {
	case errors.As(err, &soon):
		problem = &Problem{Status: http.StatusTooManyRequests, Code: "too_many_requests", RetryAfter: soon.wait}
		return nil, v.problemResponse(problem, err)
	case errors.As(err, &problem):
		return nil, v.problemResponse(problem, err)
	case err != nil:
		v.at.log.failure(v.Context, asError(err, ErrAuth, serverError), v.at.attrs()...)
		return nil, v.sessionErrorResponse(err)
	case p == nil:
		return nil, v.signInResponse(v.signInProblem())
	}
	for _, ask := range guards {
		err := guard("guard", func() error { return ask(v, p) })
		var lacks *missingScope
		switch {
		case err == nil:
			continue
		case errors.As(err, &lacks):
			problem = &Problem{
				Status: http.StatusForbidden, Code: "insufficient_scope",
				Detail: "The credential does not allow this request.",
				challenge: `Bearer realm="` + v.at.origin + `", error="insufficient_scope", scope="` +
					strings.Join(lacks.required, " ") + `"`,
			}
			return nil, v.problemResponse(problem, err)
		}
		return nil, v.guardErrorResponse(err)
	}
	return p, nil
}

// problemResponse returns the response to a program with a problem.
func (v *Visit) problemResponse(problem *Problem, err error) *Response {
	v.at.log.failure(v.Context, asError(err, ErrAccessDenied, clientError), v.at.attrs()...)
	response := problem.document(v.answering(), &Response{Err: err})
	problem.retryAfter(response)
	if problem.challenge != "" {
		response.set("Www-Authenticate", problem.challenge)
	}
	return v.at.refer(finish(v.at.r, v.setGuardHeaders(response)))
}
