package guest

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
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
}

// New returns the plugin. [core.New] reports configuration errors in the options.
func New(o Options) *Guests {
	if o.MaxAge == 0 {
		o.MaxAge = 30 * 24 * time.Hour
	}
	return &Guests{options: o}
}

// Attach implements [core.Plugin].
func (g *Guests) Attach(h *core.PluginHost) error {
	if g.host != nil {
		return errors.New("already attached to an Auth: call guest.New for each Auth")
	}
	g.host = h
	h.AllowGuests(core.GuestOptions{
		Action: name, Actions: g.options.Actions, MaxAge: g.options.MaxAge, Delete: g.options.Delete,
	})
	h.AddAction(core.Action{
		Method: http.MethodPost, Name: name, Handle: g.post, Summary: "Continue as a guest", Input: struct{}{},
	})
	return nil
}

// IsGuest reports whether a session is that of a guest. It reads nothing from the store.
func (g *Guests) IsGuest(s *core.Session) bool { return g.host != nil && g.host.IsGuest(s) }

// NotGuest returns a guard for pages that require an account. A guest's browser is redirected to the sign-in page,
// which returns to the page; other clients get a problem with the code "guest".
func (g *Guests) NotGuest() core.Guard {
	return func(ctx context.Context, s *core.Session) error {
		if g.host == nil {
			return errors.New("guest: NotGuest needs the plugin: add it to Config.Plugins")
		}
		return g.host.NotGuest()(ctx, s)
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
	if err := c.Allow(ctx, limit.AttemptSignUp, ""); err != nil {
		return nil, err
	}
	return c.SignIn(ctx, core.SignIn{
		User: &core.User{ID: core.NewID()}, Guest: true, Create: g.host.CreateGuest,
	})
}
