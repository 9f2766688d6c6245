package account

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// pendingChange is a change that was requested when the last sign-in was too old. An encrypted cookie stores it during
// re-authentication. The page then offers it again, and nothing happens until the user presses the button.
type pendingChange struct {
	User   string      `json:"user"`
	Action string      `json:"action"`
	Fields [][2]string `json:"fields"`
}

// field returns the value of a submitted field, or "".
func (u *pendingChange) field(name string) string {
	for _, f := range u.Fields {
		if f[0] == name {
			return f[1]
		}
	}
	return ""
}

const (
	pendingChangeCookie = "account-again"
	// pendingChangeTTL is long enough to sign in by email.
	pendingChangeTTL = 15 * time.Minute
	// maxFieldLength is longer than any email address, name or ID. Longer values are not stored; the user types them
	// again.
	maxFieldLength = 320
)

// savedFields lists, for each action, the fields that are stored during re-authentication. No other field is stored.
var savedFields = map[string][]string{
	"unlink": {"account"}, "passkey": {"id", "name", "remove"}, "end": {"session"}, "email": {"email"},
	"delete": {"phrase"}, "link": {"provider"},
	"download": {},
}

// reauth requires a recent sign-in for changes, and offers the change again after re-authentication.
type reauth struct {
	host  *core.PluginHost
	fresh time.Duration // Options.Fresh
}

func (p *reauth) actions(*reauth) []core.Action {
	return []core.Action{p.change("link", p.postLink)}
}

// change returns the action POST account/<verb>, which requires a sign-in within Options.Fresh.
func (p *reauth) change(verb string, handle handler) core.Action {
	return p.changeWithin(p.fresh, verb, handle)
}

// changeWithin is change with its own limit.
func (p *reauth) changeWithin(limit time.Duration, verb string, handle handler) core.Action {
	return core.Action{
		Method: http.MethodPost, Verb: verb, Require: signedIn, Handle: p.requireRecent(verb, limit, handle),
	}
}

// requireRecent calls handle if the user signed in within the given duration. Otherwise the error of the guard sends
// browsers to the sign-in page and programs get a 401.
func (p *reauth) requireRecent(action string, within time.Duration, handle handler) handler {
	fresh := core.RecentSignIn(within)
	return func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
		session, err := currentSession(ctx, c)
		if err != nil {
			return nil, err
		}
		stale := fresh(ctx, session)
		if stale == nil {
			return handle(ctx, c)
		}
		if !c.WantsJSON {
			p.keep(ctx, c, session, action)
		}
		return nil, stale
	}
}

// keep stores the requested change in a cookie. Values that do not fit are left out, and the user types them again.
func (p *reauth) keep(ctx context.Context, c *core.ActionRequest, session *core.Session, action string) {
	u := pendingChange{User: session.UserID, Action: action}
	for _, name := range savedFields[action] {
		if value := c.Field(name); value != "" && len(value) <= maxFieldLength {
			u.Fields = append(u.Fields, [2]string{name, value})
		}
	}
	if err := c.SetEncryptedCookie(pendingChangeCookie, u, pendingChangeTTL); err != nil {
		p.host.Logger.WarnContext(ctx, "account: could not save the form during re-authentication", "error", err)
	}
}

// resume returns the change that the user requested before re-authentication, or nil. If another user requested it,
// resume discards it and returns a problem code.
func (p *reauth) resume(
	ctx context.Context,
	c *core.ActionRequest,
	session *core.Session,
) (u *pendingChange, problem string) {
	u = new(pendingChange)
	switch {
	case !c.EncryptedCookie(pendingChangeCookie, u):
		return nil, ""
	case u.User == session.UserID && p.stale(ctx, session):
		return nil, "" // the browser is about to open the sign-in page
	}
	c.DeleteEncryptedCookie(pendingChangeCookie)
	if u.User != session.UserID {
		return nil, codeOther
	}
	return u, ""
}

// stale reports whether a change requires re-authentication.
func (p *reauth) stale(ctx context.Context, session *core.Session) bool {
	return core.RecentSignIn(p.fresh)(ctx, session) != nil
}

// postLink handles POST account/link, which the page uses instead of signin/<provider> if the last sign-in is too old
// to link an account. The field provider is the provider's ID. It is saved in a cookie, so that the page offers the
// link after re-authentication.
func (p *reauth) postLink(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := currentSession(ctx, c)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(p.host.Providers(), func(i core.ProviderInfo) bool { return i.ID == c.Field("provider") }) {
		return refuse(c, http.StatusNotFound, codeNotFound)
	}
	p.keep(ctx, c, session, "link")
	return c.Redirect(c.URL("account")), nil
}
