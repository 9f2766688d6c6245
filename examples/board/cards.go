package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"go.etcd.io/bbolt"

	"github.com/latchkey-go/latchkey/core"
)

// columns lists the columns in order.
var columns = []string{"todo", "doing", "done"}

// Card is one task.
type Card struct {
	ID     string    `json:"id"`
	Title  string    `json:"title"`
	Column string    `json:"column"`
	By     string    `json:"by"` // name of the author
	At     time.Time `json:"at"` // creation time
}

// Before and After return the columns next to that of the card; empty at the ends.
func (c Card) Before() string { return beside(c.Column, -1) }

// After returns the next column.
func (c Card) After() string { return beside(c.Column, 1) }

func beside(column string, step int) string {
	i := slices.Index(columns, column) + step
	if i < 0 || i >= len(columns) {
		return ""
	}
	return columns[i]
}

// cards stores the cards of the board.
type cards struct{ table[Card] }

func newCards(db *bbolt.DB) *cards { return &cards{table[Card]{db, "cards"}} }

// The number of cards is limited.
const mostCards, longestTitle = 100, 120

// Errors of a card.
var (
	errTitle  = errors.New("the title has to have 1 to 120 characters")
	errColumn = errors.New("the column has to be todo, doing or done")
	errFull   = errors.New("the board is full: remove a card first")
)

// list returns all cards, the newest first.
func (b *cards) list() ([]Card, error) {
	list, err := b.all()
	slices.SortFunc(list, func(x, y Card) int { return cmp.Or(y.At.Compare(x.At), cmp.Compare(x.ID, y.ID)) })
	return list, err
}

// add creates a card.
func (b *cards) add(title, column, by string) (Card, error) {
	card := Card{ID: core.NewID(), Title: strings.TrimSpace(title), Column: column, By: by, At: time.Now().UTC()}
	if n := utf8.RuneCountInString(card.Title); n == 0 || n > longestTitle || !utf8.ValidString(card.Title) {
		return Card{}, errTitle
	}
	if !slices.Contains(columns, column) {
		return Card{}, errColumn
	}
	if list, err := b.all(); err != nil || len(list) >= mostCards {
		return Card{}, cmp.Or(err, errFull)
	}
	return card, b.put(card.ID, card)
}

// move moves a card to another column.
func (b *cards) move(id, column string) (moved Card, err error) {
	if !slices.Contains(columns, column) {
		return Card{}, errColumn
	}
	err = b.change(id, func(c *Card) error {
		c.Column = column
		moved = *c
		return nil
	})
	return moved, err
}

// seed fills an empty board with examples.
func (b *cards) seed() error {
	for _, c := range []Card{
		{Title: "Book the garden", Column: "done", By: "Demi Owen"},
		{Title: "Find a band that plays until midnight", Column: "doing", By: "Grace Hopper"},
		{Title: "Draw the map for the treasure hunt", Column: "doing", By: "Ada Lovelace"},
		{Title: "Water the plants on the third floor", Column: "todo", By: "Ada Lovelace"},
		{Title: "Ask the printer for a price of 200 posters", Column: "todo", By: "Demi Owen"},
		{Title: "Write the invitation for the summer party", Column: "todo", By: "Grace Hopper"},
	} {
		if _, err := b.add(c.Title, c.Column, c.By); err != nil {
			return err
		}
	}
	return nil
}
