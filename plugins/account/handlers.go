package account

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// handlers are the handlers of the plugin, one for each user action.
type handlers struct {
	pages          *pages
	reauth         *reauth
	unlinks        *unlinks
	passkeys       *passkeys
	sessionRevoker *sessionRevoker
	emails         *emails
	undos          *undos
	deletions      *deletions
	invitations    *invitations
	sender         *sender

	host  *core.PluginHost
	fresh time.Duration // Options.Fresh
	// mails reports whether emails can be sent, deletes whether users can delete their account.
	mails, deletes bool
}

func newHandlers(h *core.PluginHost, o *Options) *handlers {
	records := h.Records()
	notes := &passkeyNotes{records, h.Logger}
	overviews := &overviews{h, records, notes}
	locks := &locks{records, h.Now, h.Logger}
	links := &links{h, records}
	sender := &sender{h, o.Mail}
	undos := &undos{h, links, &restores{h, links}}
	reauth := &reauth{h, o.Fresh}
	return &handlers{
		host: h, fresh: o.Fresh, mails: o.Mail != nil, deletes: o.Delete != nil,
		pages:          &pages{h, overviews, reauth, o.Mail != nil, o.Delete != nil},
		reauth:         reauth,
		unlinks:        &unlinks{h, overviews, locks},
		passkeys:       &passkeys{h, overviews, locks, notes},
		sessionRevoker: &sessionRevoker{},
		emails:         &emails{h, links, sender, undos},
		undos:          undos,
		deletions:      &deletions{h, sender, o.Delete},
		invitations:    &invitations{h, records, sender}, sender: sender,
	}
}

// signedIn is a guard that accepts every signed-in user.
var signedIn = []core.Guard{func(context.Context, *core.Session) error { return nil }}

// actions returns the actions of the plugin.
func (s *handlers) actions() []core.Action {
	all := []core.Action{
		{Method: http.MethodGet, Require: signedIn, Handle: s.pages.get},
		s.change("link", s.fresh, s.reauth.postLink),
		s.change("unlink", s.fresh, s.unlinks.post),
		s.change("passkey", s.fresh, s.passkeys.post),
		s.change("end", endSessionsWithin, s.sessionRevoker.post),
	}
	if s.mails {
		all = append(all,
			s.change("email", s.fresh, s.emails.post),
			core.Action{Method: http.MethodGet, Verb: "confirm", Require: signedIn, Handle: s.emails.getConfirm},
			core.Action{Method: http.MethodPost, Verb: "confirm", Require: signedIn, Handle: s.emails.postConfirm},
			core.Action{Method: http.MethodGet, Verb: "undo", Handle: s.undos.get},
			core.Action{Method: http.MethodPost, Verb: "undo", Handle: s.undos.post},
		)
	}
	if s.deletes {
		all = append(all, s.change("delete", s.fresh, s.deletions.post))
	}
	for i := range all {
		all[i].Name = "account"
		if all[i].Require != nil {
			all[i].Handle = requireUser(all[i].Handle)
		}
	}
	return all
}

// requireUser wraps a handler with the response to users that the store no longer has.
func requireUser(handle handler) handler {
	return func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
		response, err := handle(ctx, c)
		if errors.Is(err, core.ErrNotFound) {
			return userGone(ctx, c)
		}
		return response, err
	}
}

// change returns an action that requires a sign-in within the given duration.
func (s *handlers) change(verb string, within time.Duration, handle handler) core.Action {
	return core.Action{
		Method: http.MethodPost, Verb: verb, Require: signedIn, Handle: s.reauth.requireRecent(verb, within, handle),
	}
}

// gate never stops a sign-in. It stores the time a passkey was used, and deletes the user's invitation, which
// Callbacks.SignIn has applied by now. Failures are only logged, so that they do not prevent the sign-in.
func (s *handlers) gate(ctx context.Context, p *core.PendingSignIn) (next string, err error) {
	s.passkeys.used(ctx, p)
	if err := s.invitations.use(ctx, p.User); err != nil {
		s.host.Logger.WarnContext(ctx, "account: could not delete a used invitation", "error", err)
	}
	return "", nil
}
