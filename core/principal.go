package core

import (
	"context"
	"crypto/sha256"
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/problems"
	"github.com/latchkey-go/latchkey/core/limit"
)

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
				return &missingScope{all, p.Credential}
			}
		}
		return nil
	}
}

// missingScope is the error of [Scopes]. The log line of the request contains it, and so names the credential.
type missingScope struct {
	required   []string
	credential string // Principal.Credential
}

func (e *missingScope) Error() string {
	return "core: the credential " + e.credential + " lacks a scope: it needs " + strings.Join(e.required, " ")
}

func (e *missingScope) Unwrap() error { return ErrForbidden }

// AddCredential adds a kind of credential. Handlers that [Visit.RequirePrincipal] protects accept it; those that
// [Visit.Require] protects do not.
func (h *PluginHost) AddCredential(c Credential) {
	h.attaching("AddCredential")
	if c.Matches == nil || c.Verify == nil {
		h.fault("AddCredential: Matches and Verify must be set")
		return
	}
	matches, log := c.Matches, h.Auth.log
	c.Matches = func(token string) bool { // a panic would leave Handle, and clients choose the token
		ok, err := guarded("Credential.Matches", func() (bool, error) { return matches(token), nil })
		if err != nil {
			log.failure(context.Background(), errorf(ErrAuth, "%w", err))
		}
		return ok && err == nil
	}
	h.Auth.site.credentials = append(h.Auth.site.credentials, c)
}

// verifyCredential returns the principal of a credential, or nil if it is not valid. again reports that a stream checks
// it again, which does not count as a use.
func (a *Auth) verifyCredential(
	ctx context.Context, v *arrival, kind *Credential, token string, again bool,
) (*Principal, error) {
	if len(v.r.Header["Authorization"]) > 1 { // an error of the client, see arrival.credential
		return nil, nil
	}
	hash, limits := sha256.Sum256([]byte(token)), a.plugins.limits
	c, attempt := &call{arrival: *v}, newAttempt(limit.AttemptKey, "")
	_, known := a.validTokens.Get(hash)
	known = known || kind.Unlimited
	if !known {
		if err := limits.ask(ctx, c, attempt); err != nil {
			return nil, err
		}
	}
	p, err := guarded("Credential.Verify", func() (*Principal, error) {
		network, _ := v.client()
		return kind.Verify(ctx, token, network)
	})
	if err != nil || p == nil {
		a.validTokens.Remove(hash)
		return nil, err
	}
	if !known {
		a.validTokens.First(hash, time.Time{})
		limits.right(ctx, c, attempt)
	}
	v.verified.Set(p.Credential)
	if p.Credential != "" && limits.keyUse && !again {
		if err := limits.ask(ctx, c, newAttempt(limit.AttemptKeyUse, p.Credential)); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Principal returns who makes the request, or nil if it has neither a valid credential nor a session. It is determined
// once for each request. An error means that it is unknown, for example because the store failed.
func (v *Visit) Principal() (*Principal, error) {
	return v.principal.Do(v.readPrincipal)
}

func (v *Visit) readPrincipal() (*Principal, error) {
	if v.refused == nil {
		if kind, token := v.at.credential(); kind != nil {
			v.dependsOnSession()
			return v.auth.verifyCredential(v.Context, &v.at, kind, token, v.again)
		}
	}
	session, err := v.Session()
	if err != nil || session == nil || session.User == nil {
		return nil, err
	}
	return &Principal{UserID: session.UserID, Actor: session.Actor, Session: session}, nil
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
	var soon *problems.TooMany
	switch {
	case errors.As(err, &soon):
		problem = &Problem{Status: http.StatusTooManyRequests, Code: "too_many_requests", RetryAfter: soon.Wait}
		return nil, v.problemResponse(problem, err)
	case errors.As(err, &problem):
		return nil, v.problemResponse(problem, err)
	case err != nil:
		v.at.log.failure(v.Context, errormarks.As(err, ErrAuth, errormarks.ByServer), v.at.attrs()...)
		return nil, v.sessionErrorResponse(err)
	case p == nil:
		return nil, v.unauthenticated()
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

// Principal returns who makes the request: the user of the session, or the holder of a plugin's credential. It is nil
// if the request has neither. If the request has a bearer token that is not valid, the error is the [*Problem] with
// status 401 to return from Handle (RFC 6750 section 3.1), and for too many wrong credentials one with status 429.
// Any other error means that the principal is unknown. A credential is verified with each call.
func (c *ActionRequest) Principal(ctx context.Context) (*Principal, error) {
	if kind, token := c.in.credential(); kind != nil {
		p, err := c.plugins.auth.verifyCredential(ctx, &c.in.arrival, kind, token, false)
		if err != nil || p != nil {
			return p, err
		}
	}
	_, presented, err := c.in.bearer()
	if err != nil {
		return nil, bearerProblem(c.Origin, err)
	}
	session, err := c.Session(ctx)
	switch {
	case err != nil:
		return nil, err
	case session != nil && session.User != nil:
		return &Principal{UserID: session.UserID, Actor: session.Actor, Session: session}, nil
	case presented:
		return nil, bearerProblem(c.Origin, nil)
	}
	return nil, nil
}
