package webhooks

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// maxShown is the maximum number of failed deliveries on the page of an endpoint.
const maxShown = 20

// view is the data of a page. one is the endpoint that it shows, or nil on the list.
type view struct {
	flash
	locale    ui.Locale
	endpoints []Endpoint
	one       *Endpoint
	failed    []Delivery
	csrf      string
	action    func(verb string) string
	link      func(id string) string
	// home is the address of the application, host its name, and user the signed-in user, for the header.
	home, host string
	user       ui.Visitor
}

// flash is shown on the next page: a new secret, a success message, or a problem.
type flash struct {
	User    string `json:"user,omitempty"`
	Secret  string `json:"secret,omitempty"`
	Verb    string `json:"verb,omitempty"`
	Done    bool   `json:"done,omitempty"`
	Problem string `json:"problem,omitempty"`
	// Refusal is why an endpoint did not accept the test event.
	Refusal string `json:"refusal,omitempty"`
}

// flashCookie stores a flash for a minute. The cookie is encrypted, and the page deletes it: a secret is shown once.
const flashCookie = "webhooks-said"

func (v *view) say(text ui.Text) string { return v.locale.Say(text) }

func (v *view) problem() string {
	switch {
	case v.Refusal != "":
		return v.say(textProblemTest.With(v.Refusal))
	case v.Problem != "":
		return v.say(problemTexts[v.Problem])
	}
	return ""
}

func (v *view) done() string {
	if !v.Done {
		return ""
	}
	return v.say(doneTexts[v.Verb])
}

// sections returns the sections of the page.
func (v *view) sections() (all []ui.PageSection) {
	add := func(id string, heading ui.Text, content templ.Component) {
		all = append(all, ui.PageSection{ID: id, Heading: v.say(heading), Content: content})
	}
	if v.Secret != "" {
		add("secret", textSecret, newSecret(v))
	}
	if v.one != nil {
		add("endpoint", textActions, detail(v))
		add("failed", textFailed, failedRows(v))
		return all
	}
	add("endpoints", textEndpoints, rows(v))
	add("new", textNew, createForm(v))
	return all
}

// tag returns the state of an endpoint, or "" if it works.
func (v *view) tag(e *Endpoint) string {
	switch {
	case !e.Disabled.IsZero():
		return v.say(textDisabled)
	case !e.Failing.IsZero():
		return v.say(textFailing)
	case e.Configured:
		return v.say(textConfigured)
	}
	return ""
}

// about returns a line about an endpoint: its description and its filter.
func (v *view) about(e *Endpoint) string {
	filter := strings.Join(e.Events, " ")
	if filter == "" {
		filter = v.say(textAll)
	}
	if e.Description == "" {
		return filter
	}
	return e.Description + " · " + filter
}

// show responds with a page: that of the endpoint with this ID, or the list.
func (w *Webhooks) show(ctx context.Context, c *core.ActionRequest, id string) (*core.Response, error) {
	s, err := c.Session(ctx)
	if err != nil || s == nil { // the guards require a session
		return nil, errors.Join(errors.New("webhooks: no user is signed in"), err)
	}
	v := &view{
		locale: c.Locale, csrf: c.CSRFToken, home: c.Home, host: c.Host(),
		action: func(verb string) string { return c.URL(strings.TrimSuffix(name+"/"+verb, "/")) },
		link: func(id string) string {
			if id == "" {
				return c.URL(name)
			}
			return c.URL(name, "id", id)
		},
	}
	if s.User != nil {
		v.user = ui.Visitor{ID: s.UserID, Name: s.User.Name, Email: s.User.Email, Image: s.User.Image}
	}
	if c.EncryptedCookie(flashCookie, &v.flash) {
		c.DeleteEncryptedCookie(flashCookie)
	}
	if v.User != s.UserID { // another user has signed in meanwhile
		v.Secret = ""
	}
	status := http.StatusOK
	if id != "" {
		e, err := w.find(ctx, id)
		switch {
		case errors.Is(err, core.ErrNotFound):
			v.Problem, status = codeNotFound, http.StatusNotFound
		case err != nil:
			return nil, err
		default:
			v.one = &e.Endpoint
			if v.failed, err = w.Failed(ctx, id, maxShown); err != nil {
				return nil, err
			}
		}
	}
	if v.one == nil {
		if v.endpoints, err = w.List(ctx); err != nil {
			return nil, err
		}
	}
	page := c.Page(c.Locale.Say(textHeading))
	return c.Render(ctx, status, page, webhooksPage(page, v)), nil
}

// redirect responds to the form of a browser: with a redirect to a page that shows what was done, or the problem.
func (w *Webhooks) redirect(
	ctx context.Context, c *core.ActionRequest, verb string, result any, err error,
) (*core.Response, error) {
	f, id := flash{Verb: verb, Done: err == nil}, ""
	if verb != "" {
		id = c.Field("id")
	}
	if err != nil {
		var p *core.Problem
		if !errors.As(problem(err), &p) {
			return nil, err
		}
		f.Problem = p.Code
	}
	switch r := result.(type) {
	case withSecret:
		f.Secret = r.Secret
		if r.Endpoint != nil {
			id = r.Endpoint.ID
		}
	case tested:
		if r.Error != "" {
			f.Done, f.Refusal = false, r.Error
		}
	}
	if s, err := c.Session(ctx); err == nil && s != nil {
		f.User = s.UserID
	}
	if err := c.SetEncryptedCookie(flashCookie, f, time.Minute); err != nil {
		return nil, err
	}
	if id == "" || verb == "delete" && err == nil || f.Problem == codeNotFound {
		return c.Redirect(c.URL(name)), nil
	}
	return c.Redirect(c.URL(name, "id", id)), nil
}
