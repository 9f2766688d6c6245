package account

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/ui"
)

// CredentialEnder is a plugin with credentials that act for users without a session, such as API keys. The account page
// finds it in Config.Providers and Config.Plugins.
type CredentialEnder interface {
	// EndCredentials ends the credentials of a user who has asked for the deletion of the account (Options.DeleteAfter).
	// It must be idempotent. If it returns an error, the request fails and the user can repeat it.
	EndCredentials(ctx context.Context, userID string) error
}

// schedule has the deletions of Options.DeleteAfter. Each is a record with the user ID as its key. To keep the
// account and to start the deletion are both updates of one version of the record, so of concurrent requests and
// tasks, in any process, one succeeds.
type schedule struct {
	host    *core.PluginHost
	records store.RecordStore
	links   *links
	sender  *sender
	options *Options
}

// deletion is the value of a record.
type deletion struct {
	Due time.Time `json:"due"`
	// Started is the start of the last attempt. Later the account cannot be kept, because Options.Delete may have deleted
	// some of its data.
	Started time.Time `json:"started,omitzero"`
	// Kept reports that the user kept the account. The record is about to be deleted.
	Kept bool `json:"kept,omitempty"`
	// Host is the site's host and Language the tag of the user's language, for the email after the deletion.
	Host     string `json:"host,omitempty"`
	Language string `json:"language,omitempty"`
}

// deletionRetry is the time after which another attempt starts, because the last one has failed or its process has
// ended. It is longer than an attempt.
const deletionRetry = 5 * time.Minute

func (s *schedule) on() bool { return s.options.DeleteAfter > 0 && s.options.Delete != nil }

func (s *schedule) actions(*reauth) []core.Action {
	return []core.Action{
		{Method: http.MethodGet, Verb: "keep", Handle: s.get},
		{Method: http.MethodPost, Verb: "keep", Handle: s.post},
	}
}

// find returns the scheduled deletion of a user. It returns [core.ErrNotFound] if there is none.
func (s *schedule) find(ctx context.Context, userID string) (*store.Record, *deletion, error) {
	r, err := s.records.Record(ctx, kindDeletion, userID)
	if err != nil {
		return nil, nil, err
	}
	d := new(deletion)
	if err := json.Unmarshal(r.Value, d); err != nil {
		return nil, nil, fmt.Errorf("account: decode a scheduled deletion: %w", err)
	}
	if d.Kept {
		return r, d, core.ErrNotFound
	}
	return r, d, nil
}

// write updates the record of a deletion. It returns [core.ErrConflict] if another request has changed it.
func (s *schedule) write(ctx context.Context, r *store.Record, d *deletion) (err error) {
	if r.Value, err = json.Marshal(d); err != nil {
		return err
	}
	return s.records.UpdateRecord(ctx, r)
}

// add schedules a deletion and ends all sessions and credentials. A sign-in that completes meanwhile meets the gate,
// because the record is written first.
func (s *schedule) add(
	ctx context.Context, c *core.ActionRequest, session *core.Session, user *core.User,
) (*core.Response, error) {
	if err := s.check(ctx, user); err != nil {
		return nil, err
	}
	if err := announce(ctx, c, audit.DeletionScheduled, user.ID); err != nil {
		return nil, err
	}
	by := scheduler{
		host: c.Host(), language: c.Locale.Tag,
		url: func(query ...string) (string, error) { return c.URL("account/keep", query...), nil },
		notify: func(email core.Email, change func(ctx context.Context) error) error {
			return s.sender.notify(ctx, c, user.ID, email, change)
		},
	}
	due, err := s.create(ctx, user, by)
	if err != nil {
		return nil, fmt.Errorf("account: schedule a deletion: %w", err)
	}
	for _, plugin := range s.host.Plugins() {
		if ender, ok := plugin.(CredentialEnder); ok {
			if err := ender.EndCredentials(ctx, user.ID); err != nil {
				return nil, fmt.Errorf("account: end the credentials of %T: %w", plugin, err)
			}
		}
	}
	switch _, err := c.EndSessions(ctx, core.EndOptions{}); {
	case notListed(err): // sessions on other devices continue until they expire
		if err := c.SignOut(ctx); err != nil {
			return nil, fmt.Errorf("account: sign out: %w", err)
		}
	case err != nil:
		return nil, fmt.Errorf("account: end the sessions of a user: %w", err)
	}
	auditDone(ctx, c, audit.DeletionScheduled, session)
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, deletionOutput{Due: due}), nil
	}
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, deletionPage(
		page, textDeletion, textDeletionAdded, page.Locale.Date(due), "", textKeep,
	)), nil
}

// check calls Options.CheckDelete.
func (s *schedule) check(ctx context.Context, user *core.User) error {
	if s.options.CheckDelete != nil {
		if err := s.options.CheckDelete(ctx, user.Clone()); err != nil {
			return err
		}
	}
	return nil
}

// scheduler is what a request for a deletion, or a program, knows about the site.
type scheduler struct {
	host, language string
	// url returns the URL of the page that keeps the account.
	url func(query ...string) (string, error)
	// notify runs change and then sends the email.
	notify func(email core.Email, change func(ctx context.Context) error) error
}

// create writes the record of a deletion and sends the email. If the deletion is scheduled already, its time stays.
func (s *schedule) create(ctx context.Context, user *core.User, by scheduler) (due time.Time, err error) {
	now := s.host.Now()
	d := deletion{
		Due: now.Add(s.options.DeleteAfter).UTC().Truncate(time.Second), Host: by.host, Language: by.language,
	}
	switch r, before, err := s.find(ctx, user.ID); {
	case err == nil:
		return before.Due, nil
	case !errors.Is(err, core.ErrNotFound):
		return due, err
	case r != nil: // the user has kept the account just now
		if _, err := s.records.DeleteRecord(ctx, kindDeletion, user.ID); err != nil && !errors.Is(err, core.ErrNotFound) {
			return due, err
		}
	}
	value, err := json.Marshal(d)
	if err != nil {
		return due, err
	}
	link, err := by.url()
	if err != nil {
		return due, err
	}
	email := core.Email{
		To: user.Email, Kind: mailkind.DeletionScheduled, At: d.Due, Expires: d.Due, URL: core.Secret(link),
	}
	if user.Email != "" && !user.EmailVerified.IsZero() { // an unverified address may belong to another person
		token, err := s.host.NewToken()
		if err != nil {
			return due, err
		}
		if err := s.links.save(ctx, kindKeep, token, user.ID, d.Due, struct{}{}); err != nil {
			return due, err
		}
		if link, err = by.url("token", token); err != nil {
			return due, err
		}
		email.URL = core.Secret(link)
	}
	err = by.notify(email, func(ctx context.Context) error {
		return s.records.CreateRecord(ctx, &store.Record{
			Kind: kindDeletion, Key: user.ID, UserID: user.ID, Value: value,
		})
	})
	if errors.Is(err, core.ErrConflict) { // a concurrent request has scheduled it
		_, before, err := s.find(ctx, user.ID)
		if err != nil {
			return due, err
		}
		return before.Due, nil
	}
	return d.Due, err
}

// gate holds the sign-ins of users whose account will be deleted. It is a final gate: only a user who has passed all
// other gates, such as that of the second factor, can keep the account.
func (s *schedule) gate(ctx context.Context, p *core.PendingSignIn) (next string, err error) {
	if p.Linking {
		return "", nil
	}
	switch _, _, err := s.find(ctx, p.User.ID); {
	case errors.Is(err, core.ErrNotFound):
		return "", nil
	case err != nil:
		return "", err
	}
	return "account/keep", nil
}

// asked returns the user whose account a request is about, with the sign-in that waits for the decision, if there is
// one. The user is identified by the token of the email, by a pending sign-in, or by a session that could not be ended.
func (s *schedule) asked(ctx context.Context, c *core.ActionRequest) (string, *core.PendingSignIn, error) {
	if token := c.Field("token"); token != "" {
		r, err := s.links.find(ctx, kindKeep, token, new(struct{}))
		if errors.Is(err, core.ErrNotFound) {
			return "", nil, deadLink()
		}
		if err != nil {
			return "", nil, err
		}
		return r.UserID, nil, nil
	}
	p, err := c.PendingSignIn(ctx)
	if err != nil || p != nil {
		if err != nil {
			return "", nil, err
		}
		return p.User.ID, p, nil
	}
	session, err := c.Session(ctx)
	if err != nil || session == nil {
		return "", nil, err
	}
	return session.UserID, nil, nil
}

// get handles GET account/keep: it asks whether to keep the account, and changes nothing, because email scanners open
// links.
func (s *schedule) get(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	userID, _, err := s.asked(ctx, c)
	if err != nil {
		return nil, err
	}
	if userID == "" {
		return s.signIn(c)
	}
	_, d, err := s.find(ctx, userID)
	if errors.Is(err, core.ErrNotFound) { // another request has kept it
		return s.signIn(c)
	}
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, scheduled{d.Due, !d.Started.IsZero()}), nil
	}
	page := c.Page("")
	if !d.Started.IsZero() {
		started := deletionPage(page, textDeletion, textDeletionStarted, "", "", textKeep)
		return c.Render(ctx, http.StatusOK, page, started), nil
	}
	return c.Render(ctx, http.StatusOK, page, askPage(askView{
		Page: page, CSRFToken: c.CSRFToken, Heading: page.Locale.Say(textDeletion), Text: textDeletionAsk,
		Address: page.Locale.Date(d.Due), Action: c.URL("account/keep"), Token: c.Field("token"),
		Button: page.Locale.Say(textKeep),
	})), nil
}

func (s *schedule) signIn(c *core.ActionRequest) (*core.Response, error) {
	if c.WantsJSON {
		return nil, &core.Problem{Status: http.StatusUnauthorized, Code: codeReauth}
	}
	return c.Redirect(c.URL("signin")), nil
}

// post handles POST account/keep: it cancels the deletion, and completes the sign-in that waits for it.
func (s *schedule) post(ctx context.Context, c *core.ActionRequest) (*core.Response, error) {
	userID, pending, err := s.asked(ctx, c)
	if err != nil {
		return nil, err
	}
	if userID == "" {
		return s.signIn(c)
	}
	if err := s.keep(ctx, c, userID); err != nil {
		return nil, err
	}
	if pending != nil {
		return c.CompleteSignIn(ctx, pending)
	}
	if c.Field("token") == "" {
		return done(ctx, c, "kept", keptOutput{true})
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, keptOutput{true}), nil
	}
	page := c.Page("")
	return c.Render(ctx, http.StatusOK, page, deletionPage(
		page, textKept, textKeptBody, "", c.URL("signin"), textSignIn,
	)), nil
}

// keepTries is the number of attempts to update a record that concurrent requests change.
const keepTries = 3

// keep cancels the deletion of a user. It does nothing if there is none.
func (s *schedule) keep(ctx context.Context, c *core.ActionRequest, userID string) error {
	for range keepTries {
		r, d, err := s.find(ctx, userID)
		if errors.Is(err, core.ErrNotFound) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("account: read a scheduled deletion: %w", err)
		}
		if !d.Started.IsZero() {
			auditRefused(ctx, c, audit.DeletionCanceled, audit.ReasonTokenExpired, userID)
			return &core.Problem{Status: http.StatusConflict, Code: codeDeletion, Text: textDeletionStarted}
		}
		d.Kept = true
		if err := announce(ctx, c, audit.DeletionCanceled, userID); err != nil {
			return err
		}
		switch err := s.write(ctx, r, d); {
		case errors.Is(err, core.ErrConflict):
			continue
		case errors.Is(err, core.ErrNotFound):
			return nil
		case err != nil:
			return fmt.Errorf("account: cancel a deletion: %w", err)
		}
		s.forget(ctx, userID)
		c.Audit(ctx, audit.Event{Name: audit.DeletionCanceled, Outcome: audit.OK, UserID: userID})
		return nil
	}
	return &core.Problem{Status: http.StatusConflict, Code: codeBusy, Text: problemText(codeBusy)}
}

// forget deletes the record of a deletion that was canceled, and the links in its emails. If it fails, the task deletes
// the record later.
func (s *schedule) forget(ctx context.Context, userID string) {
	_, err := s.records.DeleteUserRecords(ctx, userID, kindKeep)
	if err == nil {
		_, err = s.records.DeleteRecord(ctx, kindDeletion, userID)
	}
	if err != nil && !errors.Is(err, core.ErrNotFound) {
		s.host.Logger.WarnContext(ctx, "account: the record of a canceled deletion is left", "user_id", userID, "error", err)
	}
}

// run is the task that deletes the accounts whose time has come. An error of one account does not stop the others.
func (s *schedule) run(ctx context.Context) (all error) {
	for cursor := ""; ; {
		page, next, err := s.host.RecordLister.ListRecords(ctx, kindDeletion, "", cursor, 100)
		if err != nil {
			return errors.Join(all, fmt.Errorf("account: list scheduled deletions: %w", err))
		}
		for _, r := range page {
			if err := s.finish(ctx, r); err != nil {
				all = errors.Join(all, fmt.Errorf("account: delete a user whose time has come: %w", err))
			}
			if ctx.Err() != nil {
				return all
			}
		}
		if next == "" {
			return all
		}
		cursor = next
	}
}

// finish deletes the account of a record, if its time has come. Each step can be repeated.
func (s *schedule) finish(ctx context.Context, r *store.Record) error {
	var d deletion
	if err := json.Unmarshal(r.Value, &d); err != nil {
		return err
	}
	now := s.host.Now()
	if d.Kept {
		s.forget(ctx, r.UserID)
		return nil
	}
	if d.Due.After(now) || now.Before(d.Started.Add(deletionRetry)) {
		return nil
	}
	d.Started = now
	err := s.write(ctx, r, &d) // of several processes, one continues; the user may have kept the account meanwhile
	if errors.Is(err, core.ErrConflict) || errors.Is(err, core.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	user, err := s.host.Store.User(ctx, r.UserID)
	if errors.Is(err, core.ErrNotFound) {
		s.forget(ctx, r.UserID)
		return nil
	}
	if err != nil {
		return err
	}
	err = checkDelete(ctx, s.host, user)
	if err == nil {
		err = s.options.Delete(ctx, user.Clone())
	}
	if errors.As(err, new(*core.Problem)) { // it was refused, and the user can still keep the account
		d.Started = time.Time{}
		err = errors.Join(err, s.write(ctx, r, &d))
	} else if err == nil {
		err = forgetUser(ctx, s.host, user)
	}
	if err != nil {
		s.host.Audit(ctx, audit.Event{Name: audit.UserDeleted, Outcome: audit.Failed, UserID: user.ID})
		return err
	}
	if err := s.endAll(ctx, user.ID); err != nil {
		return err
	}
	e := audit.Event{Name: audit.UserDeleted, Outcome: audit.OK, UserID: user.ID}
	err = s.host.AuditChange(ctx, e, func(ctx context.Context) error {
		if err := s.host.UserDeleter.DeleteUser(ctx, user.ID); !errors.Is(err, core.ErrNotFound) {
			return err
		}
		return nil
	})
	if err != nil {
		return err
	}
	s.deleted(ctx, user, &d)
	return s.endAll(ctx, user.ID) // with StrategyJWT a session may have started before the user was deleted
}

func (s *schedule) endAll(ctx context.Context, userID string) error {
	_, err := s.host.Auth.EndSessions(ctx, userID, core.EndOptions{})
	if notListed(err) || errors.Is(err, core.ErrNotFound) {
		return nil
	}
	return err
}

// deleted sends the last email, in the language of the page that scheduled the deletion.
func (s *schedule) deleted(ctx context.Context, user *core.User, d *deletion) {
	if s.sender.mail == nil || user.Email == "" {
		return
	}
	locale := s.host.Locale
	if i := slices.IndexFunc(s.host.Locales, func(l ui.Locale) bool { return l.Tag == d.Language }); i >= 0 {
		locale = s.host.Locales[i]
	}
	s.host.Notify(ctx, core.BackgroundEmail{Sender: senderName, UserID: user.ID, Email: core.Email{
		To: user.Email, Kind: mailkind.Deleted, At: s.host.Now(), Theme: s.host.Theme, Locale: locale, Host: d.Host,
	}})
}
