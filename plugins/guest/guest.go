package guest

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/amr"
	"github.com/latchkey-go/latchkey/core/challenge"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/ui"
)

// name is the name of the action.
const name = "guest"

// Options configures [New]. All fields are optional.
type Options struct {
	// MaxAge is the age after which a guest without a session is deleted. The default is 30 days.
	MaxAge time.Duration
	// Actions are the names of actions of other plugins that guests may use although they require a session, such as
	// "organization". The default is none.
	Actions []string
	// Delete deletes the application's data about a guest before the guest is deleted because of MaxAge. It is called
	// again after an error or an interruption, so it must be idempotent. The default does nothing.
	Delete func(ctx context.Context, guest *core.User) error
}

// Guests is the plugin. Create it with [New], and add it to Config.Plugins of one Auth. It is safe for concurrent use.
type Guests struct {
	options Options
	host    *core.PluginHost
	cursor  string // of the next run of removeOld, which never runs twice at a time
}

// New returns the plugin. [core.New] reports configuration errors in the options.
func New(o Options) *Guests {
	if o.MaxAge == 0 {
		o.MaxAge = 30 * 24 * time.Hour
	}
	o.Actions = slices.Clone(o.Actions)
	return &Guests{options: o}
}

// Attach implements [core.Plugin].
func (g *Guests) Attach(h *core.PluginHost) error {
	if g.host != nil {
		return errors.New("already attached to an Auth: call guest.New for each Auth")
	}
	g.host = h
	users := core.ProvisionalUsers{
		Method: amr.Guest, Action: name, Guard: g.refuse, Active: g.active, Upgrade: g.upgrade, Upgraded: g.done,
		SignedIn: g.signedIn,
	}
	if h.Transactor == nil {
		users.Upgrade = nil
		if h.Records() != nil && h.Merge == nil {
			h.AddConfigError("the Store has no transactions, so a guest becomes a new user when they sign up: set " +
				"Callbacks.Merge, which moves the guest's data to that user")
		}
	}
	h.AddProvisionalUsers(users)
	if h.Records() != nil && (h.RecordLister == nil || h.UserDeleter == nil ||
		h.Strategy == core.StrategyDatabase && h.SessionLister == nil) {
		h.AddConfigError("guests need a Store that implements store.RecordLister, store.UserDeleter and, under " +
			"StrategyDatabase, store.SessionLister: use one of the stores of Latchkey")
	}
	if h.RequiresEmail {
		h.AddConfigError("a guest has no email address, and the column of the email address is NOT NULL: make the " +
			"column nullable and remove EmailRequired from the layout of the store")
	}
	if g.options.MaxAge <= 0 {
		h.AddConfigError(fmt.Sprintf("MaxAge of guests is %v: it must be positive", g.options.MaxAge))
	}
	h.AddTask(g.run)
	h.AddAction(core.Action{
		Method: http.MethodPost, Name: name, Handle: g.post, Summary: "Continue as a guest", Input: struct{}{},
	})
	return nil
}

// IsGuest reports whether a session is that of a guest. It reads nothing from the store.
func (g *Guests) IsGuest(s *core.Session) bool {
	return s != nil && slices.Contains(s.Methods, amr.Guest)
}

// NotGuest returns a guard for pages that require an account. A guest's browser is redirected to the sign-in page,
// which returns to the page; other clients get a problem with the code "guest". It reads nothing from the store, and
// refuses copies of a guest's session that have ended, also in processes that do not know that yet.
func (g *Guests) NotGuest() core.Guard {
	return func(_ context.Context, s *core.Session) error {
		if g.IsGuest(s) {
			return problem()
		}
		return nil
	}
}

// refuse refuses guests in actions of other plugins, except those in Options.Actions.
func (g *Guests) refuse(_ context.Context, _ *core.Session, action string) error {
	if slices.Contains(g.options.Actions, action) {
		return nil
	}
	return problem()
}

// problem is the response to a guest where an account is required.
func problem() *core.Problem {
	return &core.Problem{
		Status: http.StatusForbidden, Code: "guest", SignIn: true,
		Text: ui.Text{Key: "problem.guest", English: "Sign in first. A guest cannot do this."},
	}
}

// post handles POST guest: it creates a guest and signs them in, through the sign-in gates. A browser that has a
// session keeps it.
func (g *Guests) post(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := c.Session(ctx)
	if err != nil {
		return nil, err
	}
	if session != nil {
		return c.Redirect(c.CallbackURL), nil
	}
	if err := c.CheckChallenge(ctx, challenge.SignIn); err != nil { // the widget of the sign-in page
		var refused *core.Problem
		if c.WantsJSON || !errors.As(err, &refused) || refused.Code != "challenge_failed" {
			return nil, err
		}
		return c.Redirect(c.URL("signin", "error", "ChallengeFailed", "callbackUrl", c.CallbackURL)), nil
	}
	if err := c.Allow(ctx, limit.AttemptSignUp, ""); err != nil {
		return nil, err
	}
	return c.SignIn(ctx, core.SignIn{
		User: &core.User{ID: core.NewID()}, Methods: []amr.Method{amr.Guest}, Create: g.create,
	})
}
