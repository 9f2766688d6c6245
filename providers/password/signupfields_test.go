package password_test

import (
	"context"
	"errors"
	"maps"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/mailkind"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/storage/memory"
	"github.com/latchkey-go/latchkey/ui"
	"github.com/latchkey-go/latchkey/ui/locales"
)

// crew are the fields of an application. Its companies are a list, and saved has the values by the user's ID.
type crew struct {
	mu     sync.Mutex
	saved  map[string]map[string]string
	fails  error
	panics bool
}

var noCompany = &core.Problem{
	Status: http.StatusUnprocessableEntity, Code: "company", Field: "company",
	Text: ui.Text{Key: "app.company", English: "We don't know this company."},
}

func (c *crew) fields() password.SignUpFields {
	return password.SignUpFields{
		Fields: []ui.Field{
			{Name: "company", Label: "Company", Required: true, Autocomplete: "organization"},
			{Name: "news", Label: "Send me news", Type: "checkbox"},
		},
		Check: func(_ context.Context, values map[string]string) error {
			switch values["company"] {
			case "Nowhere":
				return noCompany
			case "Form":
				return &core.Problem{Status: 422, Code: "form", Detail: "Not today."}
			case "down":
				return errors.New("the list of companies is down")
			}
			return nil
		},
		Save: func(_ context.Context, u *core.User, values map[string]string) error {
			c.mu.Lock()
			defer c.mu.Unlock()
			switch {
			case c.panics:
				panic("the database of the application")
			case c.fails != nil:
				return c.fails
			}
			c.saved[u.ID] = maps.Clone(values)
			return nil
		},
	}
}

func crewSite(t *testing.T, change ...func(o *password.Options, c *core.Config)) (*world, *crew) {
	t.Helper()
	app := &crew{saved: map[string]map[string]string{}}
	german := locales.German()
	german.Texts = maps.Clone(german.Texts)
	german.Texts["label.Company"], german.Texts["app.company"] = "Firma", "Diese Firma kennen wir nicht."
	return site(t, append([]func(o *password.Options, c *core.Config){func(o *password.Options, c *core.Config) {
		o.SignUpFields, c.Locales = app.fields(), []ui.Locale{locales.English(), german}
	}}, change...)...), app
}

// TestSignUpFields: the values are kept until the address is verified, in another browser too and after the email was
// sent again. Fields that are not listed do not reach the application.
func TestSignUpFields(t *testing.T) {
	t.Parallel()
	w, app := crewSite(t)
	b := w.visit()
	says(t, b.post("password/sign-up", "email", ada, "password", good, "company", " Analytical Engines ", "news", "on",
		"role", "admin", "emailVerified", "2001-01-01"), 202, "mail")
	says(t, b.post("password/resend"), 202, "mail")
	if len(app.saved) != 0 {
		t.Errorf("saved before the verification: %v", app.saved)
	}
	other := w.visit()
	r := other.post("password/confirm", "token", token(t, w.newestEmail(ada, mailkind.Verify)), "password", good)
	if other.session() != ada {
		t.Fatalf("no session: %d %s %v", r.Status, r.Body, r.Err)
	}
	want := map[string]string{"company": "Analytical Engines", "news": "on"}
	if got := app.saved[w.user(ada).ID]; !maps.Equal(got, want) {
		t.Errorf("saved %v, want %v", got, want)
	}
}

// TestSignUpFieldsRefused: the error is at its field, in the language of the page, and the form keeps the values.
func TestSignUpFieldsRefused(t *testing.T) {
	t.Parallel()
	w, app := crewSite(t)
	for name, row := range map[string]struct {
		company, news string
		status        int
		code, text    string
		field         bool
	}{
		"required":          {"", "", 422, "field_required", "Fill in this field.", true},
		"blanks":            {"   ", "", 422, "field_required", "Fill in this field.", true},
		"long":              {strings.Repeat("a", 1001), "", 422, "field_invalid", "This is too long", true},
		"line break":        {"Acme\nBcc: x", "", 422, "field_invalid", "This is too long", true},
		"of the checkbox":   {"Acme", "perhaps", 422, "field_invalid", "This is too long", false},
		"by the check":      {"Nowhere", "on", 422, "company", "We don&#39;t know this company.", true},
		"of the whole form": {"Form", "", 422, "form", "Not today.", false},
	} {
		t.Run(name, func(t *testing.T) {
			form := []string{"email", ada, "password", good, "company", row.company, "news", row.news}
			r := w.visit().post("password/sign-up", form...)
			says(t, r, row.status, row.code)
			if row.field != strings.Contains(string(r.Body), `"field":"company"`) {
				t.Errorf("document %s", r.Body)
			}
			r = w.person().post("password/sign-up", form...)
			page := string(r.Body)
			if r.Status != row.status || !strings.Contains(page, row.text) || !strings.Contains(page, `value="`+ada+`"`) ||
				strings.Contains(page, good) {
				t.Errorf("answered %d %s", r.Status, page)
			}
			const described = `aria-invalid="true" aria-describedby="input-company-for-sign-up-provider-problem"`
			if row.field != strings.Contains(page, described) {
				t.Errorf("the error is not at its field: %s", page)
			}
			if row.news == "on" && !strings.Contains(page, ` value="on" checked`) {
				t.Errorf("the checkbox is off: %s", page)
			}
		})
	}
	if r := w.visit().post("password/sign-up", "email", ada, "password", good, "company", "down"); r.Status != 500 ||
		strings.Contains(string(r.Body), "list of companies") {
		t.Errorf("answered %d %s", r.Status, r.Body)
	}
	if n := len(w.emailsTo(ada)); n != 0 || len(app.saved) != 0 {
		t.Errorf("%d emails, saved %v", n, app.saved)
	}
	page := string(w.person().post("password/sign-up?lang=de", "email", ada, "password", good, "company", "Nowhere").Body)
	for _, part := range []string{"Diese Firma kennen wir nicht.", ">Firma</label>", "Konto"} {
		if !strings.Contains(page, part) {
			t.Errorf("no %q on the page %s", part, page)
		}
	}
}

// TestSignUpFieldsFromALink: a link does not fill in the fields.
func TestSignUpFieldsFromALink(t *testing.T) {
	t.Parallel()
	w, _ := crewSite(t)
	page := string(w.person().get("/auth/password/sign-up?company=Mallory&news=on").Body)
	if strings.Contains(page, "Mallory") || strings.Contains(page, "checked") ||
		!strings.Contains(page, `name="company"`) {
		t.Errorf("page %s", page)
	}
}

// TestSignUpFieldsNotSaved: without its values the user is not created, and the link still works.
func TestSignUpFieldsNotSaved(t *testing.T) {
	t.Parallel()
	for name, configure := range map[string]func(*password.Options, *core.Config){
		"transactions": transactions(true), "no transactions": transactions(false),
	} {
		for how, fail := range map[string]func(*crew){
			"error": func(c *crew) { c.fails = errors.New("down") },
			"panic": func(c *crew) { c.panics = true },
			"refused": func(c *crew) {
				c.fails = &core.Problem{Status: 409, Code: "taken", Detail: "Taken."}
			},
		} {
			t.Run(name+"/"+how, func(t *testing.T) {
				var stored core.Store
				w, app := crewSite(t, configure, func(_ *password.Options, c *core.Config) { stored = c.Store })
				b := w.visit()
				says(t, b.post("password/sign-up", "email", ada, "password", good, "company", "Acme"), 202, "mail")
				link := token(t, w.newestEmail(ada, mailkind.Verify))
				fail(app)
				r := b.post("password/confirm", "token", link)
				if r.Status < 400 || b.session() != "" {
					t.Errorf("answered %d %s", r.Status, r.Body)
				}
				if _, err := stored.UserByEmail(t.Context(), ada); !errors.Is(err, core.ErrNotFound) {
					t.Errorf("the user exists (%v)", err)
				}
				app.mu.Lock()
				app.fails, app.panics = nil, false
				app.mu.Unlock()
				b.post("password/confirm", "token", link)
				if b.session() != ada || len(app.saved) != 1 {
					t.Errorf("the second attempt: session %q, saved %v", b.session(), app.saved)
				}
			})
		}
	}
}

// TestSignUpFieldsConfig lists the configuration errors.
func TestSignUpFieldsConfig(t *testing.T) {
	t.Parallel()
	save := func(context.Context, *core.User, map[string]string) error { return nil }
	for want, fields := range map[string]password.SignUpFields{
		"Save is nil":                  {Fields: []ui.Field{{Name: "company"}}},
		`the name "email" of a field`:  {Fields: []ui.Field{{Name: "email"}}, Save: save},
		`the name "csrfToken" of a`:    {Fields: []ui.Field{{Name: "csrfToken"}}, Save: save},
		`two fields have the name "a"`: {Fields: []ui.Field{{Name: "a"}, {Name: "a"}}, Save: save},
		"has the type password":        {Fields: []ui.Field{{Name: "pin", Type: "password"}}, Save: save},
		"list at most 20":              {Fields: make([]ui.Field, 21), Save: save},
		`attribute "onclick" is not all`: {
			Fields: []ui.Field{{Name: "a", Attributes: []ui.Attribute{{Name: "onclick"}}}}, Save: save,
		},
	} {
		_, err := core.New(core.Config{
			Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.test", Store: memory.New(),
			Session: core.SessionConfig{Strategy: core.StrategyDatabase}, Getenv: func(string) string { return "" },
			Providers: []core.Provider{password.New(password.Options{Mail: &postbox{}, SignUpFields: fields})},
		})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
