package password

import (
	"context"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/ui"
)

// handlers are the handlers of the provider in one Auth, one for each user action.
type handlers struct {
	signIns       *signIns
	signUps       *signUps
	confirmations *confirmations
	resetRequests *resetRequests
	resets        *resets
	changes       *changes
	management    *management
	closed        bool
}

// newHandlers returns the handlers for an Auth with a store.
func (p *Provider) newHandlers(h *core.PluginHost) *handlers {
	o, users, records := &p.options, h.Store, h.Records()
	hashes := &hasher{o.Hash, o.LegacyHashes, h.Rand, p.hashing, p.pace, h.Now, sleep}
	chosen := &newPasswords{&policy{o.MinLength, o.Blocklist, o.Breached, h.Logger}, hashes}
	post := &emails{o.Mail, h.Theme, h.Now, &sentLinks{now: h.Now}}
	shown := &pages{o.MinLength}
	kept := &passwords{records, h.Now}
	tokens := &links{h, records}
	pending := &signUpStore{tokens, o.SignUp == ByInvitation}
	reset := &resetLinks{tokens, kept, users, post, o.ResetTTL}
	revoker := &revoker{h.Auth, records, h.Logger}
	made := &userCreator{pending, kept, users, h.Transactor, h.UserDeleter, h.Now, h.Logger}
	managed := &management{h, users, records, kept, hashes, reset}
	return &handlers{
		signIns:       &signIns{users, kept, hashes, h.Logger, managed},
		signUps:       &signUps{shown, chosen, pending, post, users, h.Logger},
		confirmations: &confirmations{p.ID, shown, pending, hashes, made, h.Logger},
		resetRequests: &resetRequests{shown, reset, post, users},
		resets:        &resets{h, p.ID, shown, reset, chosen, kept, revoker, post, h.Logger},
		changes:       &changes{p.ID, shown, chosen, kept, hashes, revoker, post, users, h.Logger},
		management:    managed,
		closed:        o.SignUp == Closed,
	}
}

// actions returns the provider's actions. A GET only shows a form and changes nothing.
func (s *handlers) actions() []core.Action {
	all := []core.Action{
		{Method: http.MethodGet, Name: ID, Verb: "sent", Handle: showSent},
		{Method: http.MethodGet, Name: ID, Verb: "forgot", Handle: s.resetRequests.show},
		{Method: http.MethodPost, Name: ID, Verb: "forgot", Handle: s.resetRequests.ask},
		{Method: http.MethodGet, Name: ID, Verb: "reset", Handle: s.resets.show},
		{Method: http.MethodPost, Name: ID, Verb: "reset", Handle: s.resets.reset},
		{Method: http.MethodGet, Name: ID, Verb: "done", Handle: s.resets.showDone},
		{Method: http.MethodGet, Name: ID, Verb: "change", Require: requireSessionID, Handle: s.changes.show},
		{Method: http.MethodPost, Name: ID, Verb: "change", Require: requireSessionID, Handle: s.changes.change},
	}
	if s.closed {
		refuse := func(context.Context, *core.ActionRequest) (*core.Response, error) {
			return nil, problem(http.StatusForbidden, codeClosed, textClosed)
		}
		return append(all, core.Action{Method: http.MethodPost, Name: ID, Verb: "sign-up", Handle: refuse})
	}
	return append(all,
		core.Action{Method: http.MethodGet, Name: ID, Verb: "sign-up", Handle: s.signUps.show},
		core.Action{
			Method: http.MethodPost, Name: ID, Verb: "sign-up", Attempt: limit.AttemptSignUp, Handle: s.signUps.signUp,
		},
		core.Action{Method: http.MethodGet, Name: ID, Verb: "confirm", Handle: s.confirmations.show},
		core.Action{Method: http.MethodPost, Name: ID, Verb: "confirm", Handle: s.confirmations.confirm},
	)
}

// links returns the links below the form of the sign-in page.
func (s *handlers) links() []ui.Link {
	links := []ui.Link{{Label: "Forgot your password?", Action: ID + "/forgot"}}
	if s.closed {
		return links
	}
	return append([]ui.Link{{Label: "Create an account", Action: ID + "/sign-up"}}, links...)
}

// requireSessionID is a guard that requires a session with an ID, because a change ends all sessions except that one.
// Sessions of Auth.js and of early versions have no ID; their users sign in again.
var requireSessionID = []core.Guard{func(ctx context.Context, session *core.Session) error {
	if session.ID == "" {
		return core.RecentSignIn(15*time.Minute)(ctx, session)
	}
	return nil
}}
