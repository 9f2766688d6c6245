package main

import (
	"context"
	"net/http"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
)

// boardPages serves the board and its forms.
type boardPages struct {
	*answers
	cards *cards
}

// view is the data of the page.
type view struct {
	Me    Member
	Cards []Card
	Here  []string // names of the users who have the board open
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

// view returns the data of the page for the user of the request. It fails if the session cannot be read.
func (b *boardPages) view(ctx context.Context) (v view, err error) {
	if _, v.Me, err = b.people.me(ctx); err != nil {
		return v, err
	}
	v.Here = b.live.names()
	v.Cards, err = b.cards.list()
	return v, err
}

func (b *boardPages) home(w http.ResponseWriter, r *http.Request) {
	session, err := authhttp.Session(r)
	switch {
	case err != nil:
		b.fail(w, r, err)
	case session != nil:
		http.Redirect(w, r, "/board", http.StatusSeeOther)
	default:
		show(w, r, http.StatusOK, homePage())
	}
}

func (b *boardPages) get(w http.ResponseWriter, r *http.Request) {
	v, err := b.view(r.Context())
	if err != nil {
		b.fail(w, r, err)
		return
	}
	show(w, r, http.StatusOK, boardPage(v))
}

func (b *boardPages) add(w http.ResponseWriter, r *http.Request) {
	_, me, err := b.people.me(r.Context())
	if err == nil {
		_, err = b.cards.add(r.PostFormValue("title"), columns[0], me.Name)
	}
	b.changed(w, r, "/board", err)
}

func (b *boardPages) move(w http.ResponseWriter, r *http.Request) {
	_, err := b.cards.move(r.PathValue("id"), r.PostFormValue("to"))
	b.changed(w, r, "/board", err)
}

func (b *boardPages) remove(w http.ResponseWriter, r *http.Request) {
	b.changed(w, r, "/board", b.cards.remove(r.PathValue("id")))
}
