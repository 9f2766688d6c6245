package ui

import (
	"bytes"
	"context"
	"fmt"
	"html/template"
	"io"
	"net/http"
)

// Render responds with a template of html/template. It binds the functions of [Funcs] to this request:
//
//	var pages = template.Must(template.New("").Funcs(ui.Funcs(context.Background())).ParseGlob("*.html"))
//
//	err := ui.Render(w, r, pages, "home.html", data)
//
// Render executes a clone of t into a buffer before it writes anything, so that a form can still set its cookie and a
// failed component does not leave half a page. On an error it responds with 500 and a plain text, and returns the error
// for the log. To set another status, call [Execute] with a buffer. Render is safe for concurrent use.
func Render(w http.ResponseWriter, r *http.Request, t *template.Template, name string, data any) error {
	var page bytes.Buffer
	if err := Execute(r.Context(), &page, t, name, data); err != nil {
		http.Error(w, http.StatusText(http.StatusInternalServerError), http.StatusInternalServerError)
		return err
	}
	if w.Header().Get("Content-Type") == "" {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
	}
	_, err := page.WriteTo(w)
	return err
}

// Execute is like [Render] for routers that write the response themselves, such as a Renderer of echo. It writes to w
// only if the whole template succeeds. ctx is the request context that the hook created. An empty name means t itself.
func Execute(ctx context.Context, w io.Writer, t *template.Template, name string, data any) error {
	page, err := t.Clone()
	if err != nil {
		return fmt.Errorf("ui: clone the template: %w: keep a parsed template and execute it with ui.Render", err)
	}
	page.Funcs(Funcs(ctx))
	var b bytes.Buffer
	if name == "" {
		err = page.Execute(&b, data)
	} else {
		err = page.ExecuteTemplate(&b, name, data)
	}
	if err != nil {
		return fmt.Errorf("ui: execute the template: %w", err)
	}
	_, err = b.WriteTo(w)
	return err
}
