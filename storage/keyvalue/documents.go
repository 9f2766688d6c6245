package keyvalue

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// object writes a JSON object. Values that are JSON are written byte for byte; encoding/json would escape and compact
// them.
type object struct {
	b   []byte
	err error
}

func (o *object) raw(name string, value []byte) {
	sign := byte(',')
	if len(o.b) == 0 {
		sign = '{'
	}
	o.b = append(append(append(append(o.b, sign), exactjson.Quote(name)...), ':'), value...)
}

// json writes a value of the caller. It omits nil.
func (o *object) json(name string, value json.RawMessage) {
	if len(value) == 0 {
		return
	}
	if !json.Valid(value) {
		o.err = errors.Join(o.err, fmt.Errorf("the member %q is not valid JSON", name))
		return
	}
	o.raw(name, value)
}

func (o *object) text(name, value string) {
	if impossible(value) && o.err == nil {
		o.err = errImpossible
	}
	o.raw(name, exactjson.Quote(value))
}

// optional omits the empty text.
func (o *object) optional(name, value string) {
	if value != "" {
		o.text(name, value)
	}
}

// nullable writes an empty text as null if null is set.
func (o *object) nullable(name, value string, null bool) {
	if value == "" && null {
		o.raw(name, []byte("null"))
		return
	}
	o.text(name, value)
}

func (o *object) time(name string, t time.Time) {
	t = t.UTC()
	if y := t.Year(); y < 1 || y > 9999 {
		o.err = errors.Join(o.err, errors.New("time out of range: the year must be from 1 to 9999"))
		return
	}
	o.raw(name, exactjson.Quote(t.Format(time.RFC3339Nano)))
}

func (o *object) members(name string, m store.Members) {
	if len(m) == 0 {
		return
	}
	var inner object
	for _, member := range slices.Sorted(maps.Keys(m)) {
		if impossible(member) && o.err == nil {
			o.err = errImpossible
		}
		value := m[member]
		if len(value) == 0 {
			value = json.RawMessage("null")
		}
		inner.json(member, value)
	}
	o.err = errors.Join(o.err, inner.err)
	if inner.err == nil {
		o.raw(name, append(inner.b, '}'))
	}
}

func (o *object) done() (string, error) {
	if o.err != nil {
		return "", o.err
	}
	return string(append(o.b, '}')), nil
}

// decode decodes a document into a T.
func decode[T any](document string) (T, error) {
	var v T
	if err := json.Unmarshal([]byte(document), &v); err != nil {
		var none T
		return none, errUnreadable // the error of encoding/json may contain the value
	}
	return v, nil
}

var (
	errImpossible = errors.New("a text contains a NUL byte or is not valid UTF-8 and cannot be stored: validate it first")
	errUnreadable = errors.New("malformed record: not written by this package")
)

func encodeUser(u *store.User) (string, error) {
	var o object
	o.text("id", u.ID)
	o.nullable("name", u.Name, u.Null&store.NullName != 0)
	o.nullable("email", u.Email, true)
	if u.EmailVerified.IsZero() {
		o.raw("emailVerified", []byte("null"))
	} else {
		o.time("emailVerified", u.EmailVerified)
	}
	o.nullable("image", u.Image, u.Null&store.NullImage != 0)
	o.members("extra", u.Extra)
	return o.done()
}

func decodeUser(document string) (*store.User, error) {
	d := struct {
		ID            string        `json:"id"`
		Name          string        `json:"name"`
		Email         string        `json:"email"`
		EmailVerified time.Time     `json:"emailVerified"`
		Image         string        `json:"image"`
		Extra         store.Members `json:"extra"`
	}{Name: noText, Email: noText, Image: noText}
	if err := json.Unmarshal([]byte(document), &d); err != nil {
		return nil, errUnreadable
	}
	u := store.User{
		ID: d.ID, Name: d.Name, Email: d.Email, EmailVerified: d.EmailVerified, Image: d.Image, Extra: d.Extra,
	}
	for _, field := range []struct {
		text *string
		null store.Nulls
	}{{&u.Name, store.NullName}, {&u.Email, store.NullEmail}, {&u.Image, store.NullImage}} {
		if *field.text == noText {
			*field.text, u.Null = "", u.Null|field.null
		}
	}
	return u.AsStored(), nil
}

// noText is the value of a member that is null or missing. No document contains a NUL byte.
const noText = "\x00"

// owner is the part of a document that indexes need: its owner.
type owner struct {
	ID     string `json:"id"`     // in a user
	UserID string `json:"userId"` // in a record that belongs to a user
	Email  string `json:"email"`
}

// ending is a record that expires: a session, a verification token, or a plugin record.
type ending struct {
	SessionToken string    `json:"sessionToken"`
	Identifier   string    `json:"identifier"`
	Token        string    `json:"token"`
	UserID       string    `json:"userId"`  // in a plugin record
	Expires      time.Time `json:"expires"` // zero means never
}
