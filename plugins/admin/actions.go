package admin

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/limit"
)

// name is the name of the actions, and of the page.
const name = "admin"

type handler = func(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error)

// change is a change of a user's account by an administrator.
type change struct {
	verb  string
	event audit.Name
	done  string // for the page
	// run makes the change and returns the JSON response.
	run func(ctx context.Context, c *core.ActionRequest, by *core.Session, u *core.User) (changed, error)
}

// changes returns the changes that the options allow.
func (a *Admin) changes() []change {
	all := []change{
		{"end-sessions", audit.AdminSessionsEnded, doneEnded, a.postEndSessions},
		{"ban", audit.AdminBanned, doneBanned, a.postBan},
		{"unban", audit.AdminUnbanned, doneUnbanned, a.postUnban},
	}
	if a.options.SendReset != nil {
		all = append(all, change{verbReset, audit.AdminResetSent, doneReset, a.postReset})
	}
	if a.options.VerifyEmail {
		all = append(all, change{verbVerify, audit.AdminEmailVerified, doneVerified, a.postVerify})
	}
	if a.options.ResetFactors != nil {
		all = append(all, change{verbFactors, audit.AdminFactorsReset, doneFactors, a.postFactors})
	}
	if a.options.ScheduleDelete != nil {
		all = append(all, change{verbScheduleDelete, audit.AdminDeletionScheduled, doneScheduled, a.postScheduleDelete})
	}
	if a.options.Impersonate {
		all = append(all, change{verbImpersonate, audit.AdminImpersonated, "", a.postImpersonate})
	}
	if a.options.Delete != nil {
		all = append(all, change{verbDelete, audit.AdminDeleted, doneDeleted, a.postDelete})
	}
	return all
}

// The verbs of the changes that depend on the options.
const (
	verbReset   = "send-reset"
	verbVerify  = "verify-email"
	verbFactors = "reset-factors"
	verbDelete  = "delete"
	verbInvite  = "invite"
	verbCreate  = "create"

	verbScheduleDelete   = "schedule-delete"
	verbImpersonate      = "impersonate"
	verbEndImpersonation = "end-impersonation"
)

// actions returns the pages and the changes. Options.Guard runs first, so that other users learn nothing.
func (a *Admin) actions() []core.Action {
	if a.options.Guard == nil { // a configuration error
		return nil
	}
	read := []core.Guard{a.options.Guard}
	write := []core.Guard{a.options.Guard, core.RecentSignIn(a.options.Fresh)}
	if a.options.Strong {
		write = append(write, core.Strong())
	}
	all := []core.Action{
		{Method: http.MethodGet, Name: name, Require: read, Handle: inBrowser(a.getList)},
		{Method: http.MethodGet, Name: name, Verb: "user", Require: read, Handle: inBrowser(a.getUser)},
	}
	for _, ch := range a.changes() {
		require := write
		if ch.verb == verbImpersonate {
			require = append(slices.Clone(write), core.Strong())
			all = append(all, a.endImpersonationAction())
		}
		all = append(all, core.Action{
			Method: http.MethodPost, Name: name, Verb: ch.verb, Require: require, Handle: inBrowser(a.make(ch)),
		})
	}
	if a.options.Invite != nil {
		all = append(all, core.Action{
			Method: http.MethodPost, Name: name, Verb: verbInvite, Require: write, Handle: inBrowser(a.postInvite),
		})
	}
	if a.options.Create != nil {
		all = append(all, core.Action{
			Method: http.MethodPost, Name: name, Verb: verbCreate, Require: write, Handle: inBrowser(a.postCreate),
		})
	}
	for i := range all {
		all[i].Describe(descriptions)
	}
	return all
}

// inBrowser refuses requests with a bearer token: a program must not act as an administrator. It turns the errors of
// changes into problems.
func inBrowser(handle handler) func(context.Context, *core.ActionRequest) (*core.Response, error) {
	return func(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
		if c.ByBearer() {
			return nil, &core.Problem{Status: http.StatusForbidden, Code: codeBrowser, Text: textProblemBrowser}
		}
		s, err := c.Session(ctx)
		if err != nil || s == nil { // the guards require a session
			return nil, errors.Join(errors.New("admin: no user is signed in"), err)
		}
		response, err := handle(ctx, c, s)
		problem := problemOf(err)
		switch {
		case problem == nil:
			return response, err
		case c.WantsJSON || c.Request.Method == http.MethodGet:
			return nil, problem
		}
		f := flash{Problem: problem.Code}
		if !errors.Is(err, core.ErrNotFound) {
			f.User = c.Field("user")
		}
		return say(c, f)
	}
}

// make returns the handler of a change. It checks the reason and the user before the change, and audits it afterwards.
func (a *Admin) make(ch change) handler {
	return func(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
		reason := strings.TrimSpace(c.Field("reason"))
		if !isReason(reason) {
			return nil, ErrReason
		}
		u, err := a.target(ctx, c, s)
		if err != nil {
			return nil, err
		}
		e := audit.Event{Name: ch.event, Outcome: audit.OK, UserID: u.ID, ActorID: s.UserID, Note: reason}
		if err := c.Announce(ctx, e); err != nil {
			return nil, err
		}
		result, err := ch.run(ctx, c, s, u)
		var limited *limitError
		if problemOf(err) != nil || errors.As(err, &limited) {
			return nil, err
		}
		switch {
		case errors.As(err, new(*core.Problem)), errors.Is(err, core.ErrForbidden): // the application refused it
			e.Outcome, e.Reason = audit.Refused, audit.ReasonDenied
		case err != nil:
			e.Outcome, e.Reason = audit.Failed, audit.ReasonFault
		}
		c.Audit(ctx, e)
		if err != nil {
			return nil, err
		}
		switch {
		case c.WantsJSON:
			result.Done = ch.done
			return c.JSON(ctx, http.StatusOK, result), nil
		case ch.verb == verbImpersonate:
			return c.Redirect(c.Home), nil
		}
		f := flash{Done: ch.done, User: u.ID}
		if ch.verb == verbDelete {
			f.User = ""
		}
		return say(c, f)
	}
}

// target returns the user that an administrator may change: neither themselves nor another administrator.
func (a *Admin) target(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.User, error) {
	u, err := a.user(ctx, c.Field("user"))
	if err != nil {
		return nil, err
	}
	if u.ID == s.UserID {
		return nil, errSelf
	}
	if a.options.IsAdmin != nil {
		protected, err := a.options.IsAdmin(ctx, u.ID)
		if err != nil {
			return nil, err
		}
		if protected {
			return nil, errAdmin
		}
	}
	return u, nil
}

// cursorPurpose is the purpose of encrypted cursors, which can contain an email address.
const cursorPurpose = "admin cursor"

// cursor is a position in the result of a query. It works for this query only.
type cursor struct {
	Query string `json:"query"`
	At    string `json:"at"`
}

func (a *Admin) getList(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	q := strings.TrimSpace(c.Field("q"))
	var from cursor
	if text := c.Field("cursor"); text != "" {
		if a.host.Decrypt(cursorPurpose, text, &from) != nil || from.Query != q {
			return nil, &core.Problem{Status: http.StatusBadRequest, Code: codeCursor, Text: textProblemCursor}
		}
	}
	page, next, err := a.list(ctx, q, from.At)
	if err == nil && next != "" {
		page.Next, err = a.host.Encrypt(cursorPurpose, cursor{q, next}, a.host.Now().Add(time.Hour))
	}
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, page), nil
	}
	v := &listView{view: newView(c, s), query: q, page: page, options: &a.options}
	sheet := c.Page(v.say(textHeading))
	return c.Render(ctx, http.StatusOK, sheet, listPage(sheet, v)), nil
}

func (a *Admin) getUser(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	u, err := a.full(ctx, c.Field("user"))
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, u), nil
	}
	v := &userView{view: newView(c, s), fullUser: u, self: u.ID == s.UserID, options: &a.options}
	sheet := c.Page(v.title())
	return c.Render(ctx, http.StatusOK, sheet, userSheet(sheet, v)), nil
}

func (a *Admin) postEndSessions(
	ctx context.Context, c *core.ActionRequest, _ *core.Session, u *core.User,
) (changed, error) {
	ended, err := a.endSessions(ctx, u.ID, core.EndOptions{One: c.Field("session")})
	return changed{Ended: &ended}, err
}

func (a *Admin) postBan(ctx context.Context, c *core.ActionRequest, s *core.Session, u *core.User) (changed, error) {
	b := Ban{Reason: strings.TrimSpace(c.Field("reason")), By: s.UserID}
	if text := c.Field("until"); text != "" {
		var err error
		if b.Until, err = time.Parse(time.DateOnly, text); err != nil {
			if b.Until, err = time.Parse(time.RFC3339, text); err != nil {
				return changed{}, ErrUntil
			}
		}
	}
	if err := a.ban(ctx, u.ID, &b); err != nil {
		return changed{}, err
	}
	return changed{Ban: &b}, a.endAll(ctx, u.ID)
}

func (a *Admin) postUnban(ctx context.Context, c *core.ActionRequest, _ *core.Session, u *core.User) (changed, error) {
	err := a.unban(ctx, u.ID, strings.TrimSpace(c.Field("reason")))
	if errors.Is(err, core.ErrNotFound) {
		err = errNotBanned
	}
	return changed{}, err
}

// limitError is the error of a limit: nothing was changed.
type limitError struct{ error }

func (e *limitError) Unwrap() error { return e.error }

func (a *Admin) postReset(ctx context.Context, c *core.ActionRequest, _ *core.Session, u *core.User) (changed, error) {
	if u.Email == "" {
		return changed{}, errNoEmail
	}
	if err := c.Allow(ctx, limit.AttemptMail, u.Email); err != nil {
		return changed{}, &limitError{err}
	}
	return changed{}, a.options.SendReset(ctx, u.ID)
}

func (a *Admin) postVerify(ctx context.Context, _ *core.ActionRequest, _ *core.Session, u *core.User) (changed, error) {
	switch {
	case u.Email == "":
		return changed{}, errNoEmail
	case !u.EmailVerified.IsZero():
		return changed{}, errVerified
	}
	return changed{}, a.host.MarkEmailVerified(ctx, u.ID, u.Email)
}

func (a *Admin) postFactors(
	ctx context.Context, _ *core.ActionRequest, _ *core.Session, u *core.User,
) (changed, error) {
	return changed{}, a.options.ResetFactors(ctx, u.ID)
}

// SharedData is a plugin with data of a user that other users share, such as organizations. It has the same methods as
// SharedData of plugins/account.
type SharedData interface {
	// CheckDelete returns an error if the user must not be deleted now, and changes nothing. A *[core.Problem] is shown to
	// the administrator.
	CheckDelete(ctx context.Context, u *core.User) error
	// ForgetUser deletes the data, after Options.Delete. It is called again when the deletion is repeated.
	ForgetUser(ctx context.Context, u *core.User) error
}

// eachShared calls do for each plugin with shared data.
func (a *Admin) eachShared(do func(s SharedData) error) error {
	for _, plugin := range a.host.Plugins() {
		if shared, ok := plugin.(SharedData); ok {
			if err := do(shared); err != nil {
				return fmt.Errorf("admin: shared data of %T: %w", plugin, err)
			}
		}
	}
	return nil
}

// checkDelete asks the plugins with shared data whether a user may be deleted.
func (a *Admin) checkDelete(ctx context.Context, u *core.User) error {
	return a.eachShared(func(s SharedData) error { return s.CheckDelete(ctx, u.Clone()) })
}

// confirmed checks the field confirm: the user's address, or the ID of a user without one.
func confirmed(c *core.ActionRequest, u *core.User) error {
	if strings.TrimSpace(c.Field("confirm")) != cmp.Or(u.Email, u.ID) {
		return errConfirm
	}
	return nil
}

// postScheduleDelete handles POST admin/schedule-delete.
func (a *Admin) postScheduleDelete(
	ctx context.Context, c *core.ActionRequest, _ *core.Session, u *core.User,
) (changed, error) {
	if err := confirmed(c, u); err != nil {
		return changed{}, err
	}
	if err := a.checkDelete(ctx, u); err != nil {
		return changed{}, err
	}
	due, err := a.options.ScheduleDelete(ctx, u.ID)
	if err != nil {
		return changed{}, err
	}
	return changed{Due: &due}, a.endAll(ctx, u.ID)
}

// postDelete handles POST admin/delete. The field confirm must be the user's address, or the ID of a user without one.
// The sessions end before the user is deleted, because StrategyJWT needs the user to revoke them, and again afterwards,
// because one may have started in between.
func (a *Admin) postDelete(ctx context.Context, c *core.ActionRequest, _ *core.Session, u *core.User) (changed, error) {
	if err := confirmed(c, u); err != nil {
		return changed{}, err
	}
	if err := a.checkDelete(ctx, u); err != nil {
		return changed{}, err
	}
	if err := a.options.Delete(ctx, u.Clone()); err != nil {
		return changed{}, err
	}
	if err := a.eachShared(func(s SharedData) error { return s.ForgetUser(ctx, u.Clone()) }); err != nil {
		return changed{}, err
	}
	if err := a.endAll(ctx, u.ID); err != nil {
		return changed{}, err
	}
	if err := a.host.UserDeleter.DeleteUser(ctx, u.ID); err != nil {
		return changed{}, err
	}
	_, err := a.endSessions(ctx, u.ID, core.EndOptions{})
	return changed{}, err
}

// postInvite handles POST admin/invite. Its response does not say whether the address has an account.
func (a *Admin) postInvite(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	reason, address, err := newcomer(c)
	if err != nil {
		return nil, err
	}
	if err := c.Allow(ctx, limit.AttemptMail, address); err != nil {
		return nil, err
	}
	err = a.options.Invite(ctx, address)
	e := audit.Event{Name: audit.AdminInvited, Outcome: audit.OK, ActorID: s.UserID, Subject: address, Note: reason}
	if err != nil {
		e.Outcome, e.Reason = audit.Failed, audit.ReasonFault
	}
	c.Audit(ctx, e)
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, changed{Done: doneInvited}), nil
	}
	return say(c, flash{Done: doneInvited})
}

// newcomer returns the reason and the address of a request about a person who may have no account.
func newcomer(c *core.ActionRequest) (reason, address string, err error) {
	if reason = strings.TrimSpace(c.Field("reason")); !isReason(reason) {
		return "", "", ErrReason
	}
	if address, err = core.NormalizeEmail(strings.TrimSpace(c.Field("email"))); err != nil {
		return "", "", errEmail
	}
	return reason, address, nil
}

// postCreate handles POST admin/create.
func (a *Admin) postCreate(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	reason, address, err := newcomer(c)
	if err != nil {
		return nil, err
	}
	u, err := a.options.Create(ctx, address)
	if errors.Is(err, core.ErrConflict) {
		return nil, errTaken
	}
	e := audit.Event{Name: audit.AdminCreated, Outcome: audit.OK, ActorID: s.UserID, Subject: address, Note: reason}
	if err == nil && u == nil {
		err = errors.New("admin: Options.Create returned no user")
	}
	if err != nil {
		e.Outcome, e.Reason = audit.Failed, audit.ReasonFault
		c.Audit(ctx, e)
		return nil, err
	}
	e.UserID, e.Subject = u.ID, ""
	c.Audit(ctx, e)
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, changed{Done: doneCreated, User: u.ID}), nil
	}
	return say(c, flash{Done: doneCreated, User: u.ID})
}

// flash is what the next page shows about this request.
type flash struct {
	Done    string `json:"done,omitempty"`
	Problem string `json:"problem,omitempty"`
	User    string `json:"user,omitempty"`
}

const flashCookie = "admin-said"

// say redirects to the page that shows the flash: that of the user, or the list.
func say(c *core.ActionRequest, f flash) (*core.Response, error) {
	if err := c.SetEncryptedCookie(flashCookie, f, time.Minute); err != nil {
		return nil, err
	}
	if f.User != "" && len(f.User) <= maxQuery {
		return c.Redirect(c.URL(name+"/user", "user", f.User)), nil
	}
	return c.Redirect(c.URL(name)), nil
}
