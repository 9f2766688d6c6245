package core

import (
	"context"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/audit"
)

// SignInGate is a sign-in gate. It decides whether a sign-in that is otherwise complete gets its session now. An empty
// next completes the sign-in. Otherwise the sign-in is stored as pending, and the browser is redirected to next, a GET
// action of the same plugin such as "secondfactor". An error denies the sign-in; an error of type [ErrAccessDenied] is
// shown to the user as a denial, any other as a failure of this site.
//
// Gates run in the order of their registration, for every sign-in method except [Auth.NewSession]. They do not run when
// a signed-in user links another account, because that session continues. No session exists before all gates have
// passed. After a plugin has completed a pending sign-in with [ActionRequest.CompleteSignIn], the gate that stored it
// does not run again, but the other gates do. Gates are called concurrently.
type SignInGate func(ctx context.Context, p *PendingSignIn) (next string, err error)

// PendingSignIn is a sign-in that has no session yet. Its pointers refer to copies: changing them has no effect.
type PendingSignIn struct {
	// User is the user who signs in: the stored user, or the one that a CredentialsProvider returned.
	User *User
	// Account is the account that they sign in with.
	Account *Account
	// Methods lists how they have authenticated so far.
	Methods []Method
	// CallbackURL is the absolute URL that the browser opens after the sign-in.
	CallbackURL string
	// Created reports that this sign-in created the user.
	Created bool
	// Request is the current request.
	Request *Request

	in     *call
	parts  *parts
	key    string // key of its records, empty before it is stored
	pieces int
	data   pendingData
}

// EncryptedCookie reads a cookie that [ActionRequest.SetEncryptedCookie] stored, for example the mark of a trusted
// device that needs no second factor.
func (p *PendingSignIn) EncryptedCookie(name string, v any) bool {
	return p.parts.kept(&p.in.arrival, name, v)
}

// AddSignInGate adds a sign-in gate. The store must support records, because pending sign-ins are stored there.
func (h *PluginHost) AddSignInGate(g SignInGate) {
	h.attaching("AddSignInGate")
	if g == nil {
		h.fault("a sign-in gate is nil: remove it")
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

// partGate is a sign-in gate and its plugin.
type partGate struct {
	ask    SignInGate
	part   string
	number int // position among the plugin's gates
}

// pendingFor is the lifetime of a pending sign-in.
const pendingFor = 10 * time.Minute

// runGates runs the gates that are not in released. It returns the URL of the action that continues the sign-in, or ""
// if all gates pass.
func (ps *parts) runGates(ctx context.Context, c *call, out *outcome, who member, released []string) (string, error) {
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
			return "", errorf(ErrAuth, "gate of plugin %s returned %q: return one of the plugin's GET actions", gate.part, next)
		}
		pending := newPendingData(id, who, p.CallbackURL)
		pending.Typed = out.typed
		pending.Next, pending.Released = next, append(slices.Clone(released), gate.named(next))
		cookie, err := ps.storePendingSignIn(ctx, c, pending)
		if err == nil {
			err = id.recheckCredentials(ctx)
		}
		if err != nil {
			return "", err
		}
		out.cookies = append(out.cookies, cookie)
		c.audit.note(ctx, &c.arrival, audit.Event{
			Name: audit.GateHeld, Outcome: audit.OK, UserID: who.user.ID, Provider: c.providerID,
			Methods: audit.Texts(id.proofs()),
		})
		return c.base + "/" + next, nil
	}
	return "", nil
}

// named returns the gate's name in a pending sign-in: an action of its plugin and the gate's position there. The name
// stays valid in a process that has other plugins configured before this one.
func (g *partGate) named(next string) string { return next + "#" + strconv.Itoa(g.number) }

// isGate reports whether name, a result of named, belongs to g.
func (ps *parts) isGate(g *partGate, name string) bool {
	next, number, _ := strings.Cut(name, "#")
	return ps.owner(next) == g.part && number == strconv.Itoa(g.number)
}

// owner returns the plugin that has the action at path, or "".
func (ps *parts) owner(path string) string {
	name, _, _ := strings.Cut(path, "/")
	for _, a := range ps.actions {
		if a.Name == name {
			return a.part
		}
	}
	return ""
}
