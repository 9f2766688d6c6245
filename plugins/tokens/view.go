package tokens

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/ui"
)

// askView is the data of the page that asks whether an app may sign in.
type askView struct {
	app    *App
	user   string
	scopes []string // the labels
	// resources are the services that the app gets signed access tokens for.
	resources []string
	// device is set for the device flow, and network is then the network of the device, or "".
	device  bool
	network string
	action  string
	csrf    string
	hidden  [][2]string
}

func newAskView(c *core.ActionRequest, s *core.Session, app *App, p *permission) *askView {
	v := &askView{app: app, csrf: c.CSRFToken, user: s.UserID, resources: p.Resources}
	if s.User != nil {
		for _, text := range []string{s.User.Name, s.User.Email} {
			if text != "" {
				v.user = text
			}
		}
	}
	for _, scope := range app.Scopes {
		for _, name := range p.Scopes {
			if scope.Name == name {
				v.scopes = append(v.scopes, scope.Label)
			}
		}
	}
	return v
}

func (v *askView) heading() ui.Text { return textAskHeading.With(v.app.Name) }

// code returns the user code as the device shows it.
func (v *askView) code() string {
	for _, field := range v.hidden {
		if field[0] == "code" {
			return field[1][:4] + "-" + field[1][4:]
		}
	}
	return ""
}

// appsView is the data of the page with the apps of a user.
type appsView struct {
	locale     ui.Locale
	grants     []Grant
	names      map[string]string
	csrf, end  string
	home, host string
	user       ui.Visitor
	flash
}

// flash is what the next page shows about a request.
type flash struct {
	Ended bool `json:"ended,omitempty"`
	Gone  bool `json:"gone,omitempty"`
}

const flashCookie = "apps-said"

func (t *Tokens) newAppsView(ctx context.Context, c *core.ActionRequest, userID string) (*appsView, error) {
	grants, err := t.Of(ctx, userID)
	v := &appsView{locale: c.Locale, grants: grants, names: map[string]string{}, csrf: c.CSRFToken, end: c.URL("apps/end")}
	for _, app := range t.options.Apps {
		v.names[app.ID] = app.Name
	}
	return v, err
}

// name returns the name of a grant's app. An app that was removed from the options is shown by its ID.
func (v *appsView) name(g *Grant) string {
	if name := v.names[g.App]; name != "" {
		return name
	}
	return g.App
}

func (v *appsView) about(g *Grant) string {
	date := func(text ui.Text, at time.Time) string { return v.locale.Say(text.With(v.locale.Date(at))) }
	return strings.Join([]string{date(textSince, g.Created), date(textUsed, g.Used)}, " · ")
}

// getApps is the page with the apps that are signed in.
func (t *Tokens) getApps(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	v, err := t.newAppsView(ctx, c, s.UserID)
	if err != nil {
		return nil, err
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, appList{v.grants}), nil
	}
	v.home, v.host = c.Home, c.Host()
	if s.User != nil {
		v.user = ui.Visitor{ID: s.UserID, Name: s.User.Name, Email: s.User.Email, Image: s.User.Image}
	}
	if c.EncryptedCookie(flashCookie, &v.flash) {
		c.DeleteEncryptedCookie(flashCookie)
	}
	page := c.Page(c.Locale.Say(textApps))
	return c.Render(ctx, http.StatusOK, page, appsPage(page, v)), nil
}

// postEnd ends a grant.
func (t *Tokens) postEnd(ctx context.Context, c *core.ActionRequest, s *core.Session) (*core.Response, error) {
	said := flash{Ended: true}
	switch err := t.End(ctx, s.UserID, c.Field("id")); {
	case errors.Is(err, core.ErrNotFound) && c.WantsJSON:
		return nil, &core.Problem{Status: http.StatusNotFound, Code: "not_found", Text: textGone}
	case errors.Is(err, core.ErrNotFound):
		said = flash{Gone: true}
	case err != nil:
		return nil, err
	default:
		t.audit(ctx, c, audit.AppEnded, s.UserID, c.Field("id"), audit.ReasonAsked)
	}
	if c.WantsJSON {
		return c.JSON(ctx, http.StatusOK, ended{true}), nil
	}
	if err := c.SetEncryptedCookie(flashCookie, said, time.Minute); err != nil {
		return nil, err
	}
	return c.Redirect(c.URL("apps")), nil
}

// AccountSection implements account.Section: the apps, and a link to their page.
func (t *Tokens) AccountSection(ctx context.Context, c *core.ActionRequest) (*ui.PageSection, error) {
	session, err := c.Session(ctx)
	if err != nil || session == nil {
		return nil, err
	}
	v, err := t.newAppsView(ctx, c, session.UserID)
	if err != nil {
		return nil, err
	}
	return &ui.PageSection{ID: "apps", Heading: c.Locale.Say(textApps), Content: section(v, c.URL("apps"))}, nil
}

// codeField is the field of a user code.
func codeField(l ui.Locale) ui.Field {
	return ui.Field{
		Name: "code", Label: l.Say(textCode), Autocomplete: "off", Required: true,
		Attributes: []ui.Attribute{
			{Name: "autocapitalize", Value: "characters"}, {Name: "spellcheck", Value: "false"},
			{Name: "maxlength", Value: "20"},
		},
	}
}
