package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/a-h/templ"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
)

// view is what the board shows to somebody.
type view struct {
	Me    Member
	Cards []Card
	Here  []string // the names of those who look at it now
}

// In returns the cards of a column.
func (v view) In(column string) (list []Card) {
	for _, c := range v.Cards {
		if c.Column == column {
			list = append(list, c)
		}
	}
	return list
}

// board is what the visitor of the request sees. The error says that it is not known who they are.
func (s *site) board(ctx context.Context) (v view, err error) {
	if _, v.Me, err = s.team.people.From(ctx); err != nil {
		return v, err
	}
	v.Here = s.live.names()
	v.Cards, err = s.cards.list()
	return v, err
}

func (s *site) getHome(w http.ResponseWriter, r *http.Request) {
	session, err := authhttp.Session(r)
	switch {
	case err != nil:
		s.fail(w, r, err)
	case session != nil:
		http.Redirect(w, r, "/board", http.StatusSeeOther)
	default:
		show(w, r, http.StatusOK, homePage())
	}
}

func (s *site) getBoard(w http.ResponseWriter, r *http.Request) {
	v, err := s.board(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	show(w, r, http.StatusOK, boardPage(v))
}

func (s *site) postCard(w http.ResponseWriter, r *http.Request) {
	_, me, err := s.team.people.From(r.Context())
	if err == nil {
		_, err = s.cards.add(r.PostFormValue("title"), columns[0], me.Name)
	}
	s.changed(w, r, "/board", err)
}

func (s *site) postMove(w http.ResponseWriter, r *http.Request) {
	_, err := s.cards.move(r.PathValue("id"), r.PostFormValue("to"))
	s.changed(w, r, "/board", err)
}

func (s *site) postRemove(w http.ResponseWriter, r *http.Request) {
	s.changed(w, r, "/board", s.cards.remove(r.PathValue("id")))
}

// changed answers a form: all boards that are open are drawn anew, and the visitor is led to a page.
func (s *site) changed(w http.ResponseWriter, r *http.Request, page string, err error) {
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.live.wake()
	http.Redirect(w, r, page, http.StatusSeeOther)
}

// fail tells the visitor what they can mend.
func (s *site) fail(w http.ResponseWriter, r *http.Request, err error) {
	_, key := problem(err)
	_, me, _ := s.team.people.From(r.Context()) // nobody, for a page that says that it is not known
	show(w, r, s.failed(r, err), problemPage(me, key))
}

// failed returns the status of an error. The log is told what nobody but the developer can mend.
func (s *site) failed(r *http.Request, err error) (status int) {
	status, _ = problem(err)
	if status >= http.StatusInternalServerError {
		s.log.ErrorContext(r.Context(), "board: a request has failed", "path", r.URL.Path, "error", err)
	}
	return status
}

// problem is the status of an error, and the text that says what to do about it.
func problem(err error) (status int, key string) {
	switch {
	case errors.Is(err, errNone):
		return http.StatusNotFound, "problem.gone"
	case errors.Is(err, errTitle):
		return http.StatusUnprocessableEntity, "problem.title_length"
	case errors.Is(err, errFull):
		return http.StatusConflict, "problem.full"
	case errors.Is(err, errOwner):
		return http.StatusConflict, "problem.self"
	case errors.Is(err, errColumn), errors.Is(err, errRole):
		return http.StatusUnprocessableEntity, "problem.other"
	case errors.Is(err, errJSON):
		return http.StatusBadRequest, "problem.other"
	}
	return http.StatusInternalServerError, "problem.other"
}

// show draws a page. It is buffered: a page that fails is no half page.
func show(w http.ResponseWriter, r *http.Request, status int, page templ.Component) {
	templ.Handler(page, templ.WithStatus(status)).ServeHTTP(w, r)
}
