package account

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// unfinished is what a visitor asked for whose proof of who they are was too old for it. The browser keeps it, sealed,
// over the fresh sign-in, and the page offers it again: nothing is done before its button is pressed.
type unfinished struct {
	User   string      `json:"user"`
	Action string      `json:"action"`
	Fields [][2]string `json:"fields"`
}

// field is what the visitor had sent in a field, empty for nothing.
func (u *unfinished) field(name string) string {
	for _, f := range u.Fields {
		if f[0] == name {
			return f[1]
		}
	}
	return ""
}

const (
	unfinishedCookie = "account-again"
	// unfinishedFor leaves time for a sign-in by mail.
	unfinishedFor = 15 * time.Minute
	// longestField is longer than an address, a name or an ID: what is longer is not kept, and asked for again.
	longestField = 320
)

// keptFields are those that are kept of each action; of others nothing is.
var keptFields = map[string][]string{
	"unlink": {"account"}, "passkey": {"id", "name", "remove"}, "end": {"session"}, "email": {"email"},
	"delete": {"phrase"}, "link": {"provider"},
}

// proofs have visitors prove who they are before a change, and offer them the change again afterwards.
type proofs struct {
	host  *core.Host
	fresh time.Duration // Options.Fresh
}

// proved has an action done for a visitor who has proved within a time who they are. Others are sent to the sign-in
// page, or answered 401, by the error of the guard.
func (p *proofs) proved(action string, within time.Duration, handle handler) handler {
	fresh := core.Fresh(within)
	return func(ctx context.Context, c *core.Call) (*core.Response, error) {
		session, err := here(ctx, c)
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

// keep has the browser keep what the visitor asked for. What it cannot keep they type again.
func (p *proofs) keep(ctx context.Context, c *core.Call, session *core.Session, action string) {
	u := unfinished{User: session.UserID, Action: action}
	for _, name := range keptFields[action] {
		if value := c.Field(name); value != "" && len(value) <= longestField {
			u.Fields = append(u.Fields, [2]string{name, value})
		}
	}
	if err := c.Keep(unfinishedCookie, u, unfinishedFor); err != nil {
		p.host.Logger.WarnContext(ctx, "account: what a visitor typed is not kept over the sign-in", "error", err)
	}
}

// resume is what the visitor had asked for before they proved again who they are, nil for nothing. problem is set where
// it was somebody else who asked: that is not done, and forgotten.
func (p *proofs) resume(ctx context.Context, c *core.Call, session *core.Session) (u *unfinished, problem string) {
	u = new(unfinished)
	switch {
	case !c.Kept(unfinishedCookie, u):
		return nil, ""
	case u.User == session.UserID && p.stale(ctx, session):
		return nil, "" // on their way to the sign-in page
	}
	c.Drop(unfinishedCookie)
	if u.User != session.UserID {
		return nil, codeOther
	}
	return u, ""
}

// stale reports whether a change needs a sign-in first.
func (p *proofs) stale(ctx context.Context, session *core.Session) bool {
	return core.Fresh(p.fresh)(ctx, session) != nil
}

// postLink answers POST account/link, which stands in the place of signin/<provider> on the page of a visitor whose
// proof is too old to link anything: provider is the ID. Whoever has proved who they are in the meantime is offered it.
func (p *proofs) postLink(ctx context.Context, c *core.Call) (*core.Response, error) {
	session, err := here(ctx, c)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(p.host.Providers(), func(i core.ProviderInfo) bool { return i.ID == c.Field("provider") }) {
		return refuse(c, http.StatusNotFound, codeNotFound)
	}
	p.keep(ctx, c, session, "link")
	return c.Redirect(c.URL("account")), nil
}
