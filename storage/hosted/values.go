package hosted

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/exactjson"
)

// recordID derives the ID of a record from its key texts. A second record with the same texts would have the same ID,
// which is rejected as taken.
func recordID(texts ...string) string {
	h := sha256.New()
	for _, text := range texts {
		h.Write([]byte(text))
		h.Write([]byte{0}) // occurs in no stored text
	}
	return "rec_" + hex.EncodeToString(h.Sum(nil)[:20])
}

var (
	errImpossible = errors.New("a text contains a NUL byte or is not valid UTF-8 and cannot be stored: validate it first")
	errUnreadable = errors.New("malformed record: not written by this package")
)

// impossible reports whether one of the texts cannot be stored.
func impossible(texts ...string) bool {
	return slices.ContainsFunc(texts, func(text string) bool {
		return strings.IndexByte(text, 0) >= 0 || !utf8.ValidString(text)
	})
}

// storable rejects fields with texts that cannot be stored.
func storable(fields record) error {
	for _, value := range fields {
		if text, ok := value.(string); ok && impossible(text) {
			return errImpossible
		}
	}
	return nil
}

// orNull converts an empty text to null.
func orNull(text string) any {
	if text == "" {
		return nil
	}
	return text
}

// nullable converts an empty text to null if null is set.
func nullable(text string, null bool) any {
	if text == "" && null {
		return nil
	}
	return text
}

// timeForm is the format of JavaScript's toISOString. Times are rounded down, so that nothing lasts longer than it
// should.
const timeForm = "2006-01-02T15:04:05.000Z"

func encodeTime(t time.Time) (string, error) {
	t = time.UnixMilli(t.UnixMilli()).UTC()
	if y := t.Year(); y < 1 || y > 9999 {
		return "", errors.New("time out of range: the year must be from 1 to 9999")
	}
	return t.Format(timeForm), nil
}

func (r record) time(name string) (time.Time, error) {
	if r[name] == nil {
		return time.Time{}, nil
	}
	t, err := time.Parse(time.RFC3339Nano, r.text(name))
	if err != nil {
		return time.Time{}, errUnreadable
	}
	return t.UTC(), nil
}

// encodeMembers writes members as one JSON object. Values stay byte-exact.
func encodeMembers(m store.Members) (any, error) {
	if len(m) == 0 {
		return nil, nil
	}
	for name, value := range m {
		if !json.Valid(value) || impossible(name) {
			return nil, errors.New("a further member is not valid JSON")
		}
	}
	return string(append(exactjson.AppendMembers([]byte{'{'}, m, nil), '}')), nil
}

func (r record) members() (m store.Members, err error) {
	text := r.text("extra")
	if text == "" {
		return nil, nil
	}
	if json.Unmarshal([]byte(text), &m) != nil {
		return nil, errUnreadable
	}
	return m, nil
}

// encodeJSON converts a JSON value to a column in which Auth.js stores a text. A string is stored without quotes if it
// is not itself valid JSON and can be decoded byte for byte. Any other value is stored as JSON.
func encodeJSON(raw json.RawMessage) (any, error) {
	if len(raw) == 0 {
		return nil, nil
	}
	if !json.Valid(raw) {
		return nil, errors.New("session_state or authorization_details is not valid JSON")
	}
	var plain string
	if raw[0] == '"' && json.Unmarshal(raw, &plain) == nil && plain != "" && !json.Valid([]byte(plain)) &&
		bytes.Equal(exactjson.Quote(plain), raw) && !impossible(plain) {
		return plain, nil
	}
	return string(raw), nil
}

func decodeJSON(text string) json.RawMessage {
	switch {
	case text == "":
		return nil
	case json.Valid([]byte(text)):
		return json.RawMessage(text)
	}
	return exactjson.Quote(text)
}

func encodeUser(u *store.User) (record, error) {
	fields := record{
		"name": nullable(u.Name, u.Null&store.NullName != 0), "email": orNull(u.Email),
		"image": nullable(u.Image, u.Null&store.NullImage != 0), "emailVerified": nil,
	}
	if !u.EmailVerified.IsZero() {
		at, err := encodeTime(u.EmailVerified)
		if err != nil {
			return nil, err
		}
		fields["emailVerified"] = at
	}
	var err error
	if fields["extra"], err = encodeMembers(u.Extra); err != nil {
		return nil, err
	}
	return fields, storable(fields)
}

func decodeUser(r record) (*store.User, error) {
	u := store.User{ID: r.id(), Name: r.text("name"), Email: r.text("email"), Image: r.text("image")}
	for name, bit := range map[string]store.Nulls{
		"name": store.NullName, "email": store.NullEmail, "image": store.NullImage,
	} {
		if r[name] == nil {
			u.Null |= bit
		}
	}
	var err error
	if u.EmailVerified, err = r.time("emailVerified"); err != nil {
		return nil, err
	}
	if u.Extra, err = r.members(); err != nil {
		return nil, err
	}
	return u.AsStored(), nil
}

func encodeAccount(a *store.Account) (record, error) {
	fields := record{
		"type": string(a.Type), "provider": a.Provider, "providerAccountId": a.ProviderAccountID,
		"access_token": orNull(string(a.AccessToken)), "refresh_token": orNull(string(a.RefreshToken)),
		"id_token": orNull(string(a.IDToken)), "scope": orNull(a.Scope), "token_type": orNull(a.TokenType),
		"expires_at": nil,
	}
	if !a.ExpiresAt.IsZero() {
		fields["expires_at"] = a.ExpiresAtUnix()
	}
	var errs [3]error
	fields["session_state"], errs[0] = encodeJSON(a.SessionState)
	fields["authorization_details"], errs[1] = encodeJSON(a.AuthorizationDetails)
	fields["extra"], errs[2] = encodeMembers(a.StoredMembers())
	if err := errors.Join(errs[:]...); err != nil {
		return nil, err
	}
	return fields, storable(fields)
}

func decodeAccount(r record) (*store.Account, error) {
	a := store.Account{
		UserID: r.link("user"), Type: store.ProviderType(r.text("type")),
		Provider: r.text("provider"), ProviderAccountID: r.text("providerAccountId"),
		AccessToken: store.Secret(r.text("access_token")), RefreshToken: store.Secret(r.text("refresh_token")),
		IDToken: store.Secret(r.text("id_token")), Scope: r.text("scope"), TokenType: r.text("token_type"),
		SessionState:         decodeJSON(r.text("session_state")),
		AuthorizationDetails: decodeJSON(r.text("authorization_details")),
	}
	expires, err := r.number("expires_at")
	if err != nil {
		return nil, err
	}
	a.SetExpiresAtUnix(expires)
	m, err := r.members()
	a.SetStoredMembers(m)
	return &a, err
}

func (r record) number(name string) (int64, error) {
	switch n := r[name].(type) {
	case nil:
		return 0, nil
	case int64:
		return n, nil
	case json.Number:
		if whole, err := n.Int64(); err == nil {
			return whole, nil
		}
		if f, err := n.Float64(); err == nil && f == float64(int64(f)) { // a float column may return 1.893456e9
			return int64(f), nil
		}
	}
	return 0, errUnreadable
}

func decodeSession(r record) (*store.Session, error) {
	expires, err := r.time("expires")
	return &store.Session{Token: store.Secret(r.text("sessionToken")), UserID: r.link("user"), Expires: expires}, err
}

func decodePasskey(r record) (*store.Authenticator, error) {
	counter, err := r.number("counter")
	backedUp, _ := r["credentialBackedUp"].(bool)
	return &store.Authenticator{
		CredentialID: r.text("credentialID"), UserID: r.link("user"),
		ProviderAccountID: r.text("providerAccountId"), CredentialPublicKey: r.text("credentialPublicKey"),
		Counter:              uint32(counter), //nolint:gosec // it was one
		CredentialDeviceType: r.text("credentialDeviceType"), CredentialBackedUp: backedUp,
		Transports: r.text("transports"),
	}, err
}
