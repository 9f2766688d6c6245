package core

import (
	"context"
	"errors"
	"net/http"
	"slices"
)

// Resume returns the sign-in of this browser that a gate of the action's part has held, nil where there is none: it was
// released, it is older than ten minutes, or another part holds it.
func (c *Call) Resume(ctx context.Context) (*PendingSignIn, error) {
	p, err := c.parts.pending(ctx, c.in)
	if err != nil || p == nil || c.parts.owner(p.held.Next) != c.part {
		return nil, err
	}
	return p, nil
}

// errPendingOver is the answer to whoever comes too late, or second.
func errPendingOver(cause error) error {
	return &Problem{
		Status: http.StatusConflict, Code: "sign_in_over", Cause: cause,
		Detail: "This sign-in has ended, or went on elsewhere. Sign in again.",
	}
}

// Release lets a sign-in that Resume returned go on, now that the visitor has proved methods on top: it asks the gates
// that come, issues the session and tells the events. The answer leads to where the visitor goes. It can be had once:
// of any number of requests one gets the session, and the others a [*Problem] with the code "sign_in_over". So is the
// answer where the user is gone, or somebody else has proved their address in the meantime.
func (c *Call) Release(ctx context.Context, p *PendingSignIn, methods ...Method) (*Response, error) {
	switch {
	case c.in.r.Method != http.MethodPost:
		return nil, errGetSignsIn
	case p == nil || p.key == "" || p.in != c.in:
		return nil, errors.New("core: Call.Release: hand over what Resume of the same Call returned")
	}
	if err := c.in.refuseBearer(); err != nil {
		return nil, err
	}
	c.Drop(pendingCookie)
	switch took, err := p.take(ctx); {
	case err != nil:
		return nil, err
	case !took:
		return nil, errPendingOver(nil)
	}
	id := p.held.identity()
	if len(methods) > 0 {
		id.authTime = nil // the user has just authenticated with them
	}
	for _, m := range methods {
		if !slices.Contains(id.methods, m) {
			id.methods = append(id.methods, m)
		}
	}
	who := member{user: id.user, created: p.held.Created}
	if p.held.Stored {
		stored, err := p.still(ctx, c)
		if err != nil {
			return nil, err
		}
		if id.account.Type != TypeCredentials {
			who.user = stored
		}
	}
	entry := c.parts.entry
	out := outcome{who: id, returnTo: p.CallbackURL, typed: p.held.Typed}
	redirect, err := c.parts.hold(ctx, c.in, &out, who, p.held.Released)
	if err == nil && redirect == "" {
		redirect, err = entry.admit(ctx, c.in, &out, who)
	}
	if err != nil {
		c.in.auditCallback(ctx, "", err)
	}
	return c.signedIn(&out, redirect, err)
}

// still looks up the user of a sign-in that was held, who may have gone. The first proof of their address in the
// meantime was another visitor's, unless this call brought it about: it ends what began before it.
func (p *PendingSignIn) still(ctx context.Context, c *Call) (*User, error) {
	users := c.parts.auth.store.Store
	stored, err := guarded("Store.User", func() (*User, error) { return present(users.User(ctx, p.held.User.ID)) })
	switch {
	case errors.Is(err, ErrNotFound):
		return nil, errPendingOver(errors.New("its user is gone"))
	case err != nil:
		return nil, errorf(ErrStore, "look up who signs in: %w", err)
	case stored.EmailVerified.After(p.held.Made) && c.proved != stored.ID:
		return nil, errPendingOver(errors.New("the address of its user was proved in the meantime"))
	}
	return stored, nil
}

// EndOthers ends all sessions of the visitor but this one, and the sign-ins of theirs that wait behind a gate. It
// returns how many sessions ended. Requirements and errors are those of [Auth.EndSessions].
func (c *Call) EndOthers(ctx context.Context) (int, error) {
	session, err := c.Session(ctx)
	switch {
	case err != nil:
		return 0, err
	case session == nil:
		return 0, errNobody("EndOthers")
	case session.ID == "":
		return 0, errors.New("core: Call.EndOthers: the session has no ID: call Host.Facts in Attach")
	}
	return c.parts.auth.EndSessions(ctx, session.UserID, EndOptions{Except: session.ID})
}

func errNobody(method string) error {
	return errors.New("core: Call." + method + ": nobody is signed in: ask Session first")
}

// endPending ends the sign-ins of a user that wait behind a gate.
func (ps *parts) endPending(ctx context.Context, userID string) error {
	if len(ps.gates) == 0 || ps.auth.store.records == nil {
		return nil
	}
	_, err := guarded("Store.DeleteUserRecords", func() (int, error) {
		return ps.auth.store.records.DeleteUserRecords(ctx, userID, pendingKind)
	})
	if err != nil {
		return errorf(ErrStore, "end the sign-ins that are held: %w", err)
	}
	return nil
}
