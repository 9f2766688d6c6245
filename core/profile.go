package core

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/mailaddr"
	"github.com/latchkey-go/latchkey/core/internal/random"
)

// Profile is a provider's answer about a person: the claims of an ID token or the userinfo body, names exact, numbers
// as [json.Number].
type Profile map[string]any

// UnmarshalJSON reads an object with exact names, each of which may come once, and exact numbers.
func (p *Profile) UnmarshalJSON(data []byte) error {
	members, err := decodeProfile(data)
	if err != nil {
		return err
	}
	*p = members
	return nil
}

// decodeProfile reads a JSON object with exact names and numbers.
func decodeProfile(body []byte) (Profile, error) {
	members, err := exactjson.DecodeObject(body)
	return members, err
}

// Text returns the member as text: a string, or a number in its decimal form. "" when it is absent, null or of another
// shape.
func (p Profile) Text(name string) string {
	switch v := p[name].(type) {
	case string:
		return v
	case json.Number:
		return decimal(v)
	}
	return ""
}

// Object returns a member that is an object, nil otherwise; a nil Profile has no members, so look-ups can be chained.
func (p Profile) Object(name string) Profile {
	m, _ := p[name].(map[string]any)
	return m
}

// List returns a member that is an array, nil otherwise.
func (p Profile) List(name string) []any { l, _ := p[name].([]any); return l }

// Bool returns a member that is true.
func (p Profile) Bool(name string) bool { b, _ := p[name].(bool); return b }

// there names the first member that is there and not null.
func (p Profile) there(names ...string) string {
	for _, n := range names {
		if p[n] != nil {
			return n
		}
	}
	return ""
}

// First returns the first of the named members that is there as text.
func (p Profile) First(names ...string) string {
	for _, n := range names {
		if s := p.Text(n); s != "" {
			return s
		}
	}
	return ""
}

// StandardProfile maps the standard claims (OpenID Connect Core section 5.1): id from sub or id, name from name,
// nickname or preferred_username, whichever is there first, email, and image from picture.
func StandardProfile(_ context.Context, p Profile, _ *TokenSet) (*User, error) {
	switch p["email"].(type) {
	case map[string]any, []any:
		return nil, errors.New("email is no text")
	}
	return &User{
		ID: p.Text(p.there("sub", "id")), Name: p.Text(p.there("name", "nickname", "preferred_username")),
		Email: p.Text("email"), Image: p.Text("picture"),
	}, nil
}

// identityOf turns a profile into the visitor's identity. The profile's id is the account; newID makes the id that the
// user gets.
func identityOf(
	ctx context.Context, c *oauthClient, profile Profile, tokens *TokenSet,
	newID func(provider, accountID string) (string, error),
) (*identity, error) {
	user, err := c.userOf(ctx, profile, tokens)
	if err != nil {
		return nil, errorf(OAuthProfileParseError, "provider %q: %w", c.ID, tokens.hide(err))
	}
	accountID := user.ID
	if accountID == "" || accountID == "undefined" || accountID == "null" {
		return nil, errorf(OAuthProfileParseError,
			"provider %q: the profile has no id: without one the person would be somebody else at each sign-in", c.ID)
	}
	if user.ID, err = newID(c.ID, accountID); err != nil {
		return nil, err
	}
	account := &Account{
		Type: c.Type, Provider: c.ID, ProviderAccountID: accountID,
		AccessToken: tokens.AccessToken, RefreshToken: tokens.RefreshToken, IDToken: tokens.IDToken,
		Scope: tokens.Scope, TokenType: tokens.TokenType, ExpiresIn: tokens.ExpiresIn, ExpiresAt: tokens.ExpiresAt,
		SessionState: tokens.Extra["session_state"], Extra: maps.Clone(tokens.Extra),
	}
	delete(account.Extra, "session_state")
	return &identity{user: user, account: account, profile: profile, tokens: tokens, client: c}, nil
}

// userOf is the user that the provider's mapping makes of a profile, with a canonical address and bounded texts.
func (c *oauthClient) userOf(ctx context.Context, profile Profile, tokens *TokenSet) (*User, error) {
	mapping := c.Profile
	if mapping == nil {
		mapping = StandardProfile
	}
	user, err := guarded("profile function", func() (*User, error) { return mapping(ctx, profile, tokens) })
	if err == nil && user == nil {
		err = errors.New("the profile function returned no user")
	}
	if err != nil {
		return nil, err
	}
	user = user.Clone()
	if user.Email != "" {
		normal, err := mailaddr.Normalize(user.Email)
		if err != nil { // an address that cannot be compared must not lead to a user
			normal = ""
		}
		user.Email = normal
	}
	boundProfile(user)
	return user, nil
}

// Bounds in bytes of the name and picture of a profile. A session token holds both and is a cookie, which stays
// readable.
const (
	maxProfileName  = 1000
	maxProfileImage = 16 << 10 // of services whose pictures are data URLs
)

// boundProfile cuts a name that is too long, and drops an image: half an address leads nowhere.
func boundProfile(u *User) {
	if len(u.Name) > maxProfileName {
		u.Name = strings.ToValidUTF8(u.Name[:maxProfileName], "")
	}
	if len(u.Image) > maxProfileImage {
		u.Image = ""
	}
}

// newUserID makes the id of a new user: a random UUID where a store keeps it. Without a store it is derived from the account
// (UUID version 8), so that the same person has the same id at every sign-in.
func newUserID(kept bool, source io.Reader) func(provider, accountID string) (string, error) {
	if kept {
		return func(string, string) (string, error) { return uuid(source) }
	}
	return func(provider, accountID string) (string, error) {
		sum := sha256.Sum256([]byte("latchkey user\x00" + provider + "\x00" + accountID))
		return random.UUIDOf([16]byte(sum[:16]), 8), nil
	}
}
