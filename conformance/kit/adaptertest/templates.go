package adaptertest

import (
	"context"
	"html/template"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/ui"
)

// TemplateSite is an application with two html/template pages, each with a sign-in button.
type TemplateSite struct {
	Auth *core.Auth
	// UI is the page at the path "/ui". It uses the functions of [ui.Funcs]; render it with [ui.Render] or [ui.Execute].
	UI *template.Template
	// Own is the page at the path "/own". Render it with the framework's own method, with the result of Button as data.
	Own *template.Template
	// Button renders the button for a request with this context.
	Button func(ctx context.Context) (template.HTML, error)
}

// RunTemplates checks both pages of a site. serve returns the handler of an application with the hook.
func RunTemplates(t *testing.T, serve func(s TemplateSite) func(*http.Request) (*http.Response, error)) {
	config := (&kit{T: t}).config()
	config.Data = nil
	auth, err := core.New(config)
	if err != nil {
		t.Fatal(err)
	}
	answer := serve(TemplateSite{ //nolint:bodyclose // the loop closes each body
		Auth: auth,
		UI:   template.Must(template.New("home").Funcs(ui.Funcs(context.Background())).Parse(`<p>{{signIn "plain"}}</p>`)),
		Own:  template.Must(template.New("own").Parse(`<p>{{.}}</p>`)),
		Button: func(ctx context.Context) (template.HTML, error) {
			var b strings.Builder
			err := ui.SignIn("plain").Render(ctx, &b)
			return template.HTML(b.String()), err
		},
	})
	for _, path := range []string{"/ui", "/own"} {
		r, err := answer(httptest.NewRequest(http.MethodGet, path, nil))
		if err != nil {
			t.Fatal(path, err)
		}
		page, err := io.ReadAll(r.Body)
		_ = r.Body.Close()
		text := string(page)
		if err != nil || r.StatusCode != http.StatusOK || !strings.HasPrefix(r.Header.Get("Content-Type"), "text/html") ||
			!strings.Contains(text, `action="/auth/signin/plain"`) || !strings.HasSuffix(text, "</p>") {
			t.Errorf("%s: %d %s %q, %v", path, r.StatusCode, r.Header, text, err)
		}
		if cookies := r.Cookies(); len(cookies) == 0 || !strings.HasSuffix(cookies[0].Name, "csrf-token") {
			t.Errorf("%s: the cookies are %v", path, cookies)
		}
	}
}
