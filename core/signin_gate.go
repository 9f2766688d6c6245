package core

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Gate decides whether a sign-in that is otherwise complete gets its session now. next names the action of GET to go on
// with, one of the gate's own part: "secondfactor"; "" lets the sign-in pass. An error refuses it: one of type
// [ErrAccessDenied] tells the visitor so, any other is a failure of this site.
//
// Gates are asked in the order of their registration, for every way to sign in but [Auth.NewSession], and not where a
// signed-in user links another account, whose session goes on. Nothing of the sign-in is a session before all gates
// have let it pass. A gate that has held a sign-in is not asked again once its part has released it; the others are.
// Gates are called concurrently.
type Gate func(ctx context.Context, p *PendingSignIn) (next string, err error)

// PendingSignIn is a sign-in before its session. What it points to belongs to the gate that is asked: changing it
// changes nothing.
type PendingSignIn struct {
	// User signs in: the stored user, or what a CredentialsProvider returned.
	User *User
	// Account is what they sign in with.
	Account *Account
	// Methods are how they have proved who they are so far.
	Methods []Method
	// CallbackURL is where they go when all is done, an absolute URL.
	CallbackURL string
	// Created is true for a user who was made by this sign-in.
	Created bool
	// Request is the request being answered.
	Request *Request

	in     *call
	parts  *parts
	key    string // of its records; empty before it is held
	pieces int
	held   heldSignIn
}

// Kept reads what [Call.Keep] had the browser keep, such as the mark of a device that needs no second factor.
func (p *PendingSignIn) Kept(name string, v any) bool { return p.parts.kept(&p.in.arrival, name, v) }

// Gate adds a gate. It needs the records of the store, where a sign-in waits that is held.
func (h *Host) Gate(g Gate) {
	h.attaching("Gate")
	if g == nil {
		h.fault("a gate is nil: leave it out")
		return
	}
	h.Records()
	n := 0
	for _, other := range h.parts.gates {
		if other.part == h.part {
			n++
		}
	}
	h.parts.gates = append(h.parts.gates, partGate{ask: g, part: h.part, number: n})
}

// partGate is a gate of a part.
type partGate struct {
	ask    Gate
	part   string
	number int // among those of its part
}

// pendingFor is how long a sign-in waits behind a gate.
const pendingFor = 10 * time.Minute

// hold asks the gates that have not released a sign-in. next is the address to go on at; empty: all let it pass.
func (ps *parts) hold(ctx context.Context, c *call, out *outcome, who member, released []string) (string, error) {
	if len(ps.gates) == 0 || who.keeps {
		return "", nil
	}
	id := out.who
	for i := range ps.gates {
		gate := &ps.gates[i]
		if slices.ContainsFunc(released, func(name string) bool { return ps.isGate(gate, name) }) {
			continue
		}
		p := &PendingSignIn{
			User: who.user.Clone(), Account: id.account.Clone(), Methods: slices.Clone(id.proofs()),
			CallbackURL: or(out.returnTo, c.callbackURL.now), Created: who.created, Request: c.r, in: c, parts: ps,
		}
		next, err := guarded("gate of "+gate.part, func() (string, error) { return gate.ask(ctx, p) })
		switch {
		case err != nil:
			return "", err
		case next == "":
			continue
		case !slices.Contains(ps.auth.site.parts.methods[next], http.MethodGet) || ps.owner(next) != gate.part:
			return "", errorf(ErrAuth, "the gate of %s goes on with %q: name one of its own actions of GET", gate.part, next)
		}
		held := heldOf(id, who, p.CallbackURL)
		held.Typed = out.typed
		held.Next, held.Released = next, append(slices.Clone(released), gate.named(next))
		cookie, err := ps.keepPending(ctx, c, held)
		if err == nil {
			err = id.stands(ctx)
		}
		if err != nil {
			return "", err
		}
		out.cookies = append(out.cookies, cookie)
		c.audit.note(ctx, &c.arrival, AuditEvent{
			Name: AuditGateHeld, Outcome: OutcomeOK, UserID: who.user.ID, Methods: id.proofs(), Provider: c.providerID,
		})
		return c.base + "/" + next, nil
	}
	return "", nil
}

// named is the name by which a held sign-in remembers a gate: an action of its part and its number there, which stay
// the same in a process that has other parts in front.
func (g *partGate) named(next string) string { return next + "#" + strconv.Itoa(g.number) }

func (ps *parts) isGate(g *partGate, name string) bool {
	next, number, _ := strings.Cut(name, "#")
	return ps.owner(next) == g.part && number == strconv.Itoa(g.number)
}

// owner is the part that has the action at a path, empty for none.
func (ps *parts) owner(path string) string {
	name, _, _ := strings.Cut(path, "/")
	for _, a := range ps.actions {
		if a.Name == name {
			return a.part
		}
	}
	return ""
}
