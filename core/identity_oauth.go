package core

import (
	"context"
	"crypto/sha256"
	"errors"
	"io"
	"maps"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/mailaddr"
	"github.com/latchkey-go/latchkey/core/internal/random"
)

// identityOf turns a profile into the visitor's identity. newID makes the ID that the user gets.
func identityOf(
	ctx context.Context, c *oauthClient, profile Profile, tokens *TokenSet,
	newID func(provider, accountID string) (string, error),
) (*identity, error) {
	person, given, err := c.personOf(ctx, profile, tokens)
	if err != nil {
		return nil, errorf(ErrOAuthProfileParse, "provider %q: %w", c.ID, tokens.hide(err))
	}
	accountID := person.AccountID
	if !exactjson.IsClean(accountID) {
		return nil, errorf(ErrOAuthProfileParse,
			"provider %q: the id of the profile has control or malformed characters: two accounts could have the same", c.ID)
	}
	if accountID == "" || accountID == "undefined" || accountID == "null" {
		return nil, errorf(ErrOAuthProfileParse,
			"provider %q: the profile has no id: without one the person would be somebody else at each sign-in", c.ID)
	}
	userID, err := newID(c.ID, accountID)
	if err != nil {
		return nil, err
	}
	user := &User{
		ID: userID, Name: person.Name, Email: person.Email, Image: person.Image, Null: person.Null,
		Extra: maps.Clone(person.Extra),
	}
	account := &Account{
		Type: c.Type, Provider: c.ID, ProviderAccountID: accountID,
		AccessToken: tokens.AccessToken, RefreshToken: tokens.RefreshToken, IDToken: tokens.IDToken,
		Scope: tokens.Scope, TokenType: tokens.TokenType, ExpiresIn: tokens.ExpiresIn, ExpiresAt: tokens.ExpiresAt,
		SessionState: tokens.further("session_state"), AuthorizationDetails: tokens.further("authorization_details"),
		Extra: maps.Clone(tokens.Extra),
	}
	delete(account.Extra, "session_state")
	delete(account.Extra, "authorization_details")
	return &identity{user: user, account: account, profile: profile, tokens: tokens, client: c, given: given}, nil
}

// personOf is what the provider's mapping makes of a profile, with a canonical address and bounded texts. given is the
// address as the provider sent it.
func (o *oauthClient) personOf(
	ctx context.Context, profile Profile, tokens *TokenSet,
) (person Person, given string, err error) {
	mapping := o.Profile
	if mapping == nil {
		mapping = StandardProfile
	}
	mapped, err := guarded("profile function", func() (*Person, error) { return mapping(ctx, profile, tokens) })
	if err == nil && mapped == nil {
		err = errors.New("the profile function returned no person")
	}
	if err != nil {
		return person, "", err
	}
	person, given = *mapped, mapped.Email              // the application's may be shared
	person.Email, _ = mailaddr.Normalize(person.Email) // one that cannot be compared becomes none: it leads to no user
	if !exactjson.IsClean(person.Email) {
		person.Email = ""
	}
	boundProfile(&person)
	return person, given, nil
}

// Bounds in bytes of the name and picture of a profile. A session token holds both and is a cookie, which stays
// readable.
const (
	maxProfileName  = 1000
	maxProfileImage = 16 << 10 // of services whose pictures are data URLs
)

// boundProfile cleans name and image, cuts a name that is too long, and drops an image that is: half an address leads
// nowhere.
func boundProfile(p *Person) {
	p.Name, p.Image = printableText(p.Name, ' '), printableText(p.Image, -1)
	if len(p.Name) > maxProfileName {
		p.Name = strings.ToValidUTF8(p.Name[:maxProfileName], "")
	}
	if len(p.Image) > maxProfileImage {
		p.Image = ""
	}
}

// printableText removes what databases, cookies and pages cannot show: control characters and bytes that are not UTF-8.
// lineBreak takes the place of a tab or line break; -1 removes it.
func printableText(s string, lineBreak rune) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, unicode.IsControl) {
		return s
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return lineBreak
		case unicode.IsControl(r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, "\ufffd")))
}

// newUserID makes the id of a new user: a random UUID where a store keeps it. Without a store it is derived from the
// account (UUID version 8), so that the same person has the same id at every sign-in.
func newUserID(kept bool, source io.Reader) func(provider, accountID string) (string, error) {
	if kept {
		return func(string, string) (string, error) { return uuid(source) }
	}
	return func(provider, accountID string) (string, error) {
		sum := sha256.Sum256([]byte("latchkey user\x00" + provider + "\x00" + accountID))
		return random.UUIDOf([16]byte(sum[:16]), 8), nil
	}
}
