package main

import (
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"

	"github.com/a-h/templ"
)

// answers has the functions that all pages share: the response after a change, and the display of errors.
type answers struct {
	people *people
	live   *live
	log    *slog.Logger
}

// changed responds to a form: it updates all open boards and redirects the browser to a page.
func (a *answers) changed(w http.ResponseWriter, r *http.Request, page string, err error) {
	if err != nil {
		a.fail(w, r, err)
		return
	}
	a.live.wake()
	http.Redirect(w, r, page, http.StatusSeeOther)
}

// fail responds with an error that the user can fix.
func (a *answers) fail(w http.ResponseWriter, r *http.Request, err error) {
	_, key := problem(err)
	_, me, _ := a.people.me(r.Context()) // zero if the session could not be read
	show(w, r, a.failed(r, err), problemPage(me, key))
}

// failed returns the status of an error, and logs errors that only the developer can fix.
func (a *answers) failed(r *http.Request, err error) (status int) {
	status, _ = problem(err)
	if status >= http.StatusInternalServerError {
		a.log.ErrorContext(r.Context(), "board: a request has failed", "path", r.URL.Path, "error", err)
	}
	return status
}

// json responds to an API client with a value, or with a problem document like the guards (RFC 9457).
func (a *answers) json(w http.ResponseWriter, r *http.Request, status int, v any, err error) {
	kind := "application/json"
	if err != nil {
		kind, status = "application/problem+json", a.failed(r, err)
		detail := "Please try again."
		if status < http.StatusInternalServerError {
			detail = err.Error()
		}
		v = map[string]any{"status": status, "title": http.StatusText(status), "detail": detail}
	} else if r.Method != http.MethodGet {
		a.live.wake()
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // fails if the client has disconnected
}

// problem returns the status of an error, and a text that tells the user what to do.
func problem(err error) (status int, key string) {
	switch {
	case errors.Is(err, errNone):
		return http.StatusNotFound, "problem.gone"
	case errors.Is(err, errTitle):
		return http.StatusUnprocessableEntity, "problem.title_length"
	case errors.Is(err, errFull):
		return http.StatusConflict, "problem.full"
	case errors.Is(err, errColumn):
		return http.StatusUnprocessableEntity, "problem.other"
	case errors.Is(err, errJSON):
		return http.StatusBadRequest, "problem.other"
	}
	return http.StatusInternalServerError, "problem.other"
}

// show renders a page into a buffer, so that a failure does not send half a page.
func show(w http.ResponseWriter, r *http.Request, status int, page templ.Component) {
	templ.Handler(page, templ.WithStatus(status)).ServeHTTP(w, r)
}
