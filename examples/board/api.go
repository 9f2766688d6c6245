package main

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
)

// api is the board for API clients.
type api struct {
	*answers
	cards *cards
}

func (a *api) list(w http.ResponseWriter, r *http.Request) {
	list, err := a.cards.list()
	a.json(w, r, http.StatusOK, map[string]any{"cards": append([]Card{}, list...)}, err)
}

func (a *api) add(w http.ResponseWriter, r *http.Request) {
	card := Card{Column: columns[0]}
	_, me, err := a.people.me(r.Context())
	if err == nil {
		err = read(r, &card)
	}
	if err == nil {
		card, err = a.cards.add(card.Title, card.Column, me.Name)
	}
	a.json(w, r, http.StatusCreated, card, err)
}

func (a *api) move(w http.ResponseWriter, r *http.Request) {
	var card Card
	err := read(r, &card)
	if err == nil {
		card, err = a.cards.move(r.PathValue("id"), card.Column)
	}
	a.json(w, r, http.StatusOK, card, err)
}

func (a *api) remove(w http.ResponseWriter, r *http.Request) {
	a.json(w, r, http.StatusOK, struct{}{}, a.cards.remove(r.PathValue("id")))
}

var errJSON = errors.New("the body has to be a JSON object of texts, sent as application/json")

// read decodes the body of a request.
func read(r *http.Request, into any) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" || json.NewDecoder(r.Body).Decode(into) != nil {
		return errJSON
	}
	return nil
}
