package main

import (
	"encoding/json"
	"errors"
	"mime"
	"net/http"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// freshFor is how long ago somebody who makes a token may have proved who they are.
const freshFor = 15 * time.Minute

func (s *site) getToken(w http.ResponseWriter, r *http.Request) { s.showToken(w, r, "") }

// postToken makes a token for the API: a session beside that of the browser, in no cookie. It stands among the devices
// on the account page, and ends there.
func (s *site) postToken(w http.ResponseWriter, r *http.Request) {
	token, err := s.newToken(r)
	if err != nil {
		s.fail(w, r, err)
		return
	}
	s.showToken(w, r, token)
}

func (s *site) showToken(w http.ResponseWriter, r *http.Request, token string) {
	_, me, err := s.team.people.From(r.Context())
	if err != nil {
		s.fail(w, r, err)
		return
	}
	show(w, r, http.StatusOK, tokenPage(me, token, s.url))
}

func (s *site) newToken(r *http.Request) (string, error) {
	session, err := authhttp.Session(r)
	if err != nil {
		return "", err
	}
	// Without the browser's cookies: the new session takes the place of no other.
	ask := *authhttp.Request(r)
	ask.Header = http.Header{"User-Agent": {"API token"}}
	cookies, err := s.auth.NewSession(r.Context(), &ask, &core.User{
		ID: session.UserID, Name: session.User.Name, Email: session.User.Email,
	})
	if err != nil {
		return "", err
	}
	for _, c := range cookies {
		ask.Header.Add("Cookie", c.Name+"="+c.Value)
	}
	return s.auth.RawToken(r.Context(), &ask)
}

func (s *site) apiList(w http.ResponseWriter, r *http.Request) {
	list, err := s.cards.list()
	s.answer(w, r, http.StatusOK, map[string]any{"cards": append([]Card{}, list...)}, err)
}

func (s *site) apiAdd(w http.ResponseWriter, r *http.Request) {
	card := Card{Column: columns[0]}
	_, me, err := s.team.people.From(r.Context())
	if err == nil {
		err = read(r, &card)
	}
	if err == nil {
		card, err = s.cards.add(card.Title, card.Column, me.Name)
	}
	s.answer(w, r, http.StatusCreated, card, err)
}

func (s *site) apiMove(w http.ResponseWriter, r *http.Request) {
	var card Card
	err := read(r, &card)
	if err == nil {
		card, err = s.cards.move(r.PathValue("id"), card.Column)
	}
	s.answer(w, r, http.StatusOK, card, err)
}

func (s *site) apiRemove(w http.ResponseWriter, r *http.Request) {
	s.answer(w, r, http.StatusOK, struct{}{}, s.cards.remove(r.PathValue("id")))
}

var errJSON = errors.New("the body has to be a JSON object of texts, sent as application/json")

// read reads the body of a program's request.
func read(r *http.Request, into any) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" || json.NewDecoder(r.Body).Decode(into) != nil {
		return errJSON
	}
	return nil
}

// answer answers a program: with a value, or with a problem document as the guards do (RFC 9457).
func (s *site) answer(w http.ResponseWriter, r *http.Request, status int, v any, err error) {
	kind := "application/json"
	if err != nil {
		kind, status = "application/problem+json", s.failed(r, err)
		detail := "Please try again."
		if status < http.StatusInternalServerError {
			detail = err.Error()
		}
		v = map[string]any{"status": status, "title": http.StatusText(status), "detail": detail}
	} else if r.Method != http.MethodGet {
		s.live.wake()
	}
	w.Header().Set("Content-Type", kind)
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v) // a client that has left
}
