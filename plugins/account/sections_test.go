package account_test

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/a-h/templ"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/account"
	"github.com/latchkey-go/latchkey/ui"
)

// visit returns the context of a page of the application.
func (b *browser) visit() context.Context {
	r := &core.Request{
		Method: "GET", Target: "/settings", Hosts: []string{"app.example"}, Scheme: "https",
		Header: http.Header{"Cookie": nil},
	}
	var cookies []string
	for name, value := range b.cookies {
		cookies = append(cookies, name+"="+value)
	}
	r.Header["Cookie"] = []string{strings.Join(cookies, "; ")}
	return b.auth.Visit(b.Context(), r)
}

func draw(ctx context.Context, c templ.Component) (string, error) {
	var out strings.Builder
	err := c.Render(ctx, &out)
	return out.String(), err
}

// TestSections: the page's four sections render on pages of the application, for signed-in users only.
func TestSections(t *testing.T) {
	s := newSite(t, setup{options: account.Options{Delete: func(context.Context, *core.User) error { return nil }}})
	b, nobody := s.as(ada), s.browse()
	for name, row := range map[string]struct {
		section templ.Component
		has     string
	}{
		"Methods":  {s.mine.SignInMethods(), "Hub"},
		"Sessions": {s.mine.Sessions(), "This device"},
		"Email":    {s.mine.Email(), ada},
		"Danger":   {s.mine.DeleteForm(), "delete my account"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := draw(b.visit(), row.section)
			if err != nil || !strings.Contains(got, row.has) || !strings.Contains(got, `name="csrfToken" value="`) {
				t.Errorf("rendered as %s, %v", got, err)
			}
			if _, err := draw(t.Context(), row.section); err == nil || !strings.Contains(err.Error(), "request hook") {
				t.Errorf("without the hook: %v", err)
			}
			if _, err := draw(nobody.visit(), row.section); err == nil || !strings.Contains(err.Error(), "RequireSession") {
				t.Errorf("without a session: %v", err)
			}
		})
	}
}

// factor is a plugin with a section on the account page.
type factor struct {
	section *ui.PageSection
	err     error
}

func (*factor) Attach(*core.PluginHost) error { return nil }

func (f *factor) AccountSection(_ context.Context, c *core.ActionRequest) (*ui.PageSection, error) {
	if c.CSRFToken == "" {
		return nil, errors.New("no CSRF token")
	}
	return f.section, f.err
}

// TestSectionsOfPlugins: other plugins add sections after the sign-in methods.
func TestSectionsOfPlugins(t *testing.T) {
	codes := &ui.PageSection{ID: "codes", Heading: "Second <factor>", Content: ui.Row("Phone", "", "")}
	for name, row := range map[string]struct {
		plugin *factor
		status int
		has    string
	}{
		"a section":  {&factor{section: codes}, 200, `<h2 id="codes-heading">Second &lt;factor&gt;</h2>`},
		"no section": {&factor{}, 200, `id="sessions"`},
		"an error":   {&factor{err: errors.New("store is down")}, 500, "Reference code"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newSite(t, setup{configure: func(c *core.Config) { c.Plugins = append(c.Plugins, row.plugin) }})
			r := s.as(ada).open("account")
			page := string(r.Body)
			if r.Status != row.status || !strings.Contains(page, row.has) || strings.Contains(page, "store is down") {
				t.Errorf("answered %d %s, want %s", r.Status, page, row.has)
			}
			if methods, other := strings.Index(page, `id="methods"`), strings.Index(page, `id="codes"`); other >= 0 &&
				other < methods {
				t.Error("the section is before the sign-in methods")
			}
		})
	}
}
