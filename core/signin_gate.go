package core

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/internal/pendingsignin"
	"github.com/latchkey-go/latchkey/core/internal/plugincookies"
	"github.com/latchkey-go/latchkey/core/internal/records"
	"github.com/latchkey-go/latchkey/internal/pending"
)

// EncryptedCookie reads a cookie that [ActionRequest.SetEncryptedCookie] stored, for example the mark of a trusted
// device that needs no second factor.
func (p *PendingSignIn) EncryptedCookie(name string, v any) bool {
	return p.plugins.readCookie(&p.in.arrival, name, v)
}

// ID identifies a stored sign-in, for counting attempts. It is a hash, and cannot be used to continue the sign-in. It
// is empty in a gate, which runs before the sign-in is stored.
func (p *PendingSignIn) ID() string {
	if p.name.Key == "" {
		return ""
	}
	return publicID("pending " + p.name.Key)
}

// AddSignInGate adds a sign-in gate: a function that decides whether a sign-in that is otherwise complete gets its
// session now. The store must support records, because pending sign-ins are stored there.
//
// An empty next completes the sign-in. Otherwise the sign-in is stored as pending, and the browser is redirected to
// next, a GET action of the same plugin such as "secondfactor". An error denies the sign-in; an error of type
// [ErrAccessDenied] is shown to the user as a denial, any other as a failure of this site.
//
// Gates run in the order of their registration, for every sign-in method. [Auth.NewSession] runs them only with
// [SessionOptions].AskGates. No session exists before all gates have passed. Before a signed-in user links another
// account or adds a passkey, gates are asked with [PendingSignIn].Linking. After a plugin has completed a pending
// sign-in with [ActionRequest.CompleteSignIn], the gate that stored it does not run again, but the other gates do.
// Gates are called concurrently.
func (h *PluginHost) AddSignInGate(g func(ctx context.Context, p *PendingSignIn) (next string, err error)) {
	h.attaching("AddSignInGate")
	h.addGate(g, false)
}

// AddFinalSignInGate adds a sign-in gate that runs after the gates of AddSignInGate of all plugins. Use it for a
// question that only a completely authenticated user may answer, such as whether to keep an account.
func (h *PluginHost) AddFinalSignInGate(g func(ctx context.Context, p *PendingSignIn) (next string, err error)) {
	h.attaching("AddFinalSignInGate")
	h.addGate(g, true)
}

func (h *PluginHost) addGate(g func(ctx context.Context, p *PendingSignIn) (next string, err error), final bool) {
	if g == nil {
		h.fault("a sign-in gate is nil: remove it")
		return
	}
	h.Records()
	h.plugins.gates.Add(h.plugin, final, func(ctx context.Context, p *PendingSignIn) (string, error) {
		next, err := guarded("gate of "+h.plugin, func() (string, error) { return g(ctx, p) })
		actions := &h.Auth.site.plugins
		if err == nil && next != "" && (!actions.HasPage(next) || actions.Owner(next) != h.plugin) {
			err = errorf(ErrAuth, "gate of plugin %s returned %q: return one of the plugin's GET actions", h.plugin, next)
		}
		return next, err
	})
}

// runGates runs the gates that are not in released. It returns the URL of the action that continues the sign-in, or ""
// if all gates pass.
func (ps *plugins) runGates(ctx context.Context, c *call, out *outcome, who member, released []string) (string, error) {
	if len(ps.gates) == 0 || who.keepsSession {
		return "", nil
	}
	id := out.identity
	url := cmp.Or(out.returnTo, c.callbackURL.Target)
	next, gate, err := ps.gates.Ask(ctx, &c.plugins, released, func() *PendingSignIn {
		p := &PendingSignIn{
			User: who.user.Clone(), Account: id.account.Clone(), Methods: slices.Clone(id.proofs()),
			CallbackURL: url, Created: who.created, Request: c.r, in: c, plugins: ps,
		}
		if id.oauth != nil && id.oauth.tokens != nil {
			p.Claims = maps.Clone(id.oauth.tokens.Claims)
		}
		return p
	})
	if err != nil || next == "" {
		return "", err
	}
	if !id.byApp { // an app has no cookie that could continue it
		pending := newPendingData(id, who, url)
		pending.Typed = out.typed
		pending.Next, pending.Released = next, append(slices.Clone(released), gate)
		cookie, err := ps.storePendingSignIn(ctx, c, pending)
		if err == nil {
			err = id.recheckCredentials(ctx)
		}
		if err != nil {
			return "", err
		}
		out.cookies = append(out.cookies, cookie)
	}
	return c.held(ctx, who.user.ID, id.proofs(), next), nil
}

// held notes a sign-in that a gate does not complete, and returns the URL of the action that continues it.
func (c *call) held(ctx context.Context, userID string, methods []amr.Method, next string) string {
	c.note(ctx, audit.Event{
		Name: audit.GateHeld, Outcome: audit.OK, UserID: userID, Provider: c.providerID, Methods: audit.Texts(methods),
	})
	return c.base + "/" + next
}

// pendingData is the stored content of a pending sign-in.
type pendingData = pendingsignin.Data[Profile]

// newPendingData returns the content to store for an identity.
func newPendingData(id *identity, who member, callbackURL string) pendingData {
	pending := pendingData{
		Profile: id.profile, Methods: id.proofs(), CallbackURL: callbackURL,
		Created: who.created, SID: id.sid(), ACR: id.acr, Short: id.short, Provisional: id.provisional,
	}
	pending.Set(who.user, id.account)
	if id.pending != nil {
		pending.Made = id.pending.Made
	}
	if id.authTime != nil || id.isUnconfirmed(who) {
		at := id.authenticatedAt(time.Time{}, who).time
		pending.AuthTime = &at
	}
	return pending
}

// restoredIdentity returns the identity of a stored sign-in.
func restoredIdentity(h *pendingData) *identity {
	user, account := h.Get()
	return &identity{
		user: user, account: account, profile: h.Profile, methods: h.Methods, authTime: h.AuthTime, acr: h.ACR,
		short: h.Short, provisional: h.Provisional, pending: h,
	}
}

// storePendingSignIn stores a pending sign-in and returns the cookie that identifies it.
func (ps *plugins) storePendingSignIn(ctx context.Context, c *call, pending pendingData) (Cookie, error) {
	key, err := randomText(c.rand)
	if err != nil {
		return Cookie{}, err
	}
	name, expires, err := pending.Save(ctx, ps.pendingStore(), key)
	if err != nil {
		return Cookie{}, errorf(ErrStore, "store a pending sign-in: %w", err)
	}
	ps.auth.sessions.cleaning.Perhaps()
	return ps.cookie(&c.arrival, plugincookies.Pending, name, expires)
}

func (ps *plugins) pendingStore() *pending.Store {
	return &pending.Store{Records: records.Of(ps.auth.store.Records), Keys: &ps.seals}
}

// pending reads the pending sign-in of the browser. It returns nil if there is none or it has expired.
func (ps *plugins) pending(ctx context.Context, c *call) (*PendingSignIn, error) {
	p := &PendingSignIn{Request: c.r, in: c, plugins: ps}
	if !ps.readCookie(&c.arrival, plugincookies.Pending, &p.name) || ps.auth.store.Records == nil {
		return nil, nil
	}
	found, err := ps.pendingStore().Read(ctx, p.name, &p.data)
	switch {
	case err != nil:
		return nil, errorf(ErrStore, "read a pending sign-in: %w", err)
	case !found:
		return nil, nil
	}
	id := restoredIdentity(&p.data)
	p.User, p.Account, p.Methods = id.user, id.account, slices.Clone(id.methods)
	p.CallbackURL, p.Created = p.data.CallbackURL, p.data.Created
	return p, nil
}

// PendingSignIn returns the pending sign-in of this browser that a gate of this action's plugin has stored. It returns
// nil if there is none: it was completed, it is older than ten minutes, or it belongs to another plugin.
func (c *ActionRequest) PendingSignIn(ctx context.Context) (*PendingSignIn, error) {
	p, err := c.plugins.pending(ctx, c.in)
	if err != nil || p == nil || c.in.plugins.Owner(p.data.Next) != c.plugin {
		return nil, err
	}
	return p, nil
}

// errPendingOver returns the error for a pending sign-in that has expired or was already completed.
func errPendingOver(cause error) error {
	return &Problem{
		Status: http.StatusConflict, Code: "sign_in_over", Cause: cause,
		Detail: "This sign-in has ended, or went on elsewhere. Sign in again.",
	}
}

// reauthUser returns the session's user as the store has them. If the store does not have them, it returns the user in
// the session.
func (s *signIns) reauthUser(ctx context.Context, session *Session) (*User, error) {
	if s.store.Store != nil {
		user, err := s.store.User(ctx, session.UserID)
		if err == nil || !errors.Is(err, ErrNotFound) {
			return user, err
		}
	}
	user := session.User.Clone()
	user.ID, user.EmailVerified = session.UserID, time.Time{}
	return user, nil
}
