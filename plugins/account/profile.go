package account

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

const maxImageURL = 2000 // bytes

// profiles changes the name and the picture of users.
type profiles struct {
	host   *core.PluginHost
	pages  *pages
	locks  *locks
	fields ProfileFields
}

func (p *profiles) actions(*reauth) []core.Action {
	return []core.Action{{Method: http.MethodPost, Verb: "profile", Require: signedIn, Handle: p.post}}
}

// post handles POST account/profile with the fields name, image and those of the application. An empty field removes
// the value. It requires no recent sign-in, because it changes nothing that the user signs in with.
func (p *profiles) post(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	session, err := currentSession(ctx, c)
	if err != nil {
		return nil, err
	}
	form := &profileForm{
		name: strings.TrimSpace(c.Field("name")), image: strings.TrimSpace(c.Field("image")), values: map[string]string{},
	}
	for _, f := range p.fields.Fields {
		form.values[f.Name] = c.Field(f.Name)
	}
	switch {
	case !isProfileName(form.name):
		form.field = "name"
		return p.refused(ctx, c, session, form, &core.Problem{Code: codeName, Text: textProblemProfileName})
	case form.image != "" && !isPicture(form.image):
		form.field = "image"
		return p.refused(ctx, c, session, form, &core.Problem{Code: codeImage, Text: textProblemImage})
	}
	if err := announce(ctx, c, audit.ProfileChanged, session.UserID); err != nil {
		return nil, err
	}
	before, after, err := p.save(ctx, session.UserID, form)
	var problem *core.Problem
	switch {
	case errors.As(err, &problem):
		return p.refused(ctx, c, session, form, problem)
	case errors.Is(err, errBusy):
		return refuse(c, http.StatusConflict, codeBusy)
	case err != nil:
		return nil, err
	}
	auditDone(ctx, c, audit.ProfileChanged, session)
	c.UpdatedUser(ctx, before, after)
	if err := c.RenewSession(ctx); err != nil { // with StrategyJWT the session contains the name and the picture
		p.host.Logger.WarnContext(ctx, "account: the session still has the old name and picture", "error", err)
	}
	return done(ctx, c, "profile", profileOutput{after.Name, after.Image})
}

// save stores the values under the user's lock, because a store overwrites the whole user: without the lock, it could
// restore an email address that another request changes at the same time.
func (p *profiles) save(ctx context.Context, userID string, form *profileForm) (before, after *core.User, err error) {
	if p.fields.Save != nil {
		user, err := p.host.Store.User(ctx, userID)
		if err == nil {
			err = p.fields.Save(ctx, user, form.values)
		}
		if err != nil {
			return nil, nil, fmt.Errorf("account: Options.Profile.Save: %w", err)
		}
	}
	err = p.locks.withLock(ctx, userID, func(ctx context.Context) error {
		if before, err = p.host.Store.User(ctx, userID); err != nil {
			return fmt.Errorf("account: read the user: %w", err)
		}
		changed := before.Clone()
		changed.Name, changed.Image = form.name, form.image
		changed.Null &^= store.NullName | store.NullImage
		if after, err = p.host.Store.UpdateUser(ctx, changed.AsStored()); err != nil {
			return fmt.Errorf("account: change the profile: %w", err)
		}
		return nil
	})
	return before, after, err
}

// refused answers with the page, whose form has the typed values and the problem, or with a problem document.
func (p *profiles) refused(
	ctx context.Context, c *core.ActionRequest, session *core.Session, form *profileForm, problem *core.Problem,
) (*core.Response, error) {
	if problem.Status == 0 {
		problem.Status = http.StatusBadRequest
	}
	if c.WantsJSON {
		return nil, problem
	}
	if problem.Field != "" {
		form.field = problem.Field
	}
	form.problem = problem.Detail
	if text := c.Locale.Say(problem.Text); text != "" {
		form.problem = text
	}
	return p.pages.show(ctx, c, session, problem.Status, flash{}, form)
}

// isProfileName reports whether a name has at most 100 printable characters.
func isProfileName(name string) bool {
	return utf8.ValidString(name) && utf8.RuneCountInString(name) <= maxProfileName &&
		!strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// isPicture reports whether s is the URL of a picture that pages may load: https with a host, and without a user name,
// which browsers send.
func isPicture(s string) bool {
	u, err := url.Parse(s)
	return err == nil && u.Scheme == "https" && u.Host != "" && u.User == nil && len(s) <= maxImageURL &&
		ui.ImageSource(s) != ""
}
