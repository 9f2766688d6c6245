package ui_test

import (
	"bytes"
	"context"
	"errors"
	"html/template"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/ui"
)

var rendered = template.Must(template.New("").Funcs(ui.Funcs(context.Background())).Parse(
	`{{define "good"}}<p>{{.}}</p>{{signIn "mock"}}{{end}}{{define "bad"}}<p>{{signIn "nope"}}</p>{{end}}` +
		`{{define "plain"}}<p>{{.}}</p>{{end}}{{define "wrong"}}<p>{{.Missing.Field}}</p>{{end}}`))

// TestRender: the response is the complete page, or status 500 without any part of it.
func TestRender(t *testing.T) {
	t.Parallel()
	hooked := ui.WithState(t.Context(), state())
	for _, row := range []struct {
		name, page string
		ctx        context.Context
		status     int
		fails      string
	}{
		{"a page", "good", hooked, 200, ""},
		{"a component that fails", "bad", hooked, 500, "is not among"},
		{"data that fails", "wrong", hooked, 500, "Missing"},
		{"no hook", "good", t.Context(), 500, "needs the request hook"},
		{"a page without components, no hook", "plain", t.Context(), 200, ""},
		{"no such template", "other", hooked, 500, "other"},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			for range 2 { // the template can be rendered again
				w := httptest.NewRecorder()
				r := httptest.NewRequestWithContext(row.ctx, http.MethodGet, "/", nil)
				err := ui.Render(w, r, rendered, row.page, "<b>")
				if w.Code != row.status || (err != nil) != (row.fails != "") ||
					err != nil && !strings.Contains(err.Error(), row.fails) {
					t.Errorf("answered %d: %v", w.Code, err)
				}
				if half := strings.Contains(w.Body.String(), "<p>"); half != (row.status == 200) {
					t.Errorf("the body is %s", w.Body)
				}
				if kind := w.Header().Get("Content-Type"); row.status == 200 && kind != "text/html; charset=utf-8" {
					t.Errorf("the Content-Type is %s", kind)
				}
			}
		})
	}
}

// late records whether the first byte was written. A cookie must be set before that.
type late struct {
	http.ResponseWriter
	written bool
}

func (w *late) Write(b []byte) (int, error) { w.written = true; return w.ResponseWriter.Write(b) }

// TestRenderAsksForTheTokenFirst: a client without cookies gets the cookie that belongs to the form.
func TestRenderAsksForTheTokenFirst(t *testing.T) {
	t.Parallel()
	w := &late{ResponseWriter: httptest.NewRecorder()}
	s := state()
	s.CSRFToken = ""
	s.FormToken = func() (string, error) {
		if w.written {
			return "", errors.New("the header is sent")
		}
		return "token", nil
	}
	r := httptest.NewRequestWithContext(ui.WithState(t.Context(), s), http.MethodGet, "/", nil)
	if err := ui.Render(w, r, rendered, "good", "x"); err != nil {
		t.Error(err)
	}
}

// TestExecute: the writer gets the whole page or nothing, and a template that was executed is rejected.
func TestExecute(t *testing.T) {
	t.Parallel()
	ctx := ui.WithState(t.Context(), state())
	page := template.Must(template.New("page").Funcs(ui.Funcs(context.Background())).Parse(`<p>{{signOut}}`))
	var b bytes.Buffer
	if err := ui.Execute(ctx, &b, page, "", nil); err != nil || !strings.HasPrefix(b.String(), "<p><form") {
		t.Errorf("%s, %v", &b, err)
	}
	b.Reset()
	if err := ui.Execute(t.Context(), &b, page, "page", nil); err == nil || b.Len() > 0 {
		t.Errorf("without the hook: %s, %v", &b, err)
	}
	_ = page.Execute(&bytes.Buffer{}, nil)
	if err := ui.Execute(ctx, &b, page, "", nil); err == nil || !strings.Contains(err.Error(), "keep a parsed template") {
		t.Errorf("after Execute: %v", err)
	}
}
