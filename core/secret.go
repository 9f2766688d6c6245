package core

import (
	"net/url"
	"strings"
)

// hiding is an error whose text leaves out tokens that got into it: from an address, or from the text of a provider's own function
// or of the operator's transport.
type hiding struct {
	err    error
	tokens []string
}

// Error is the text with a placeholder for each token.
func (e *hiding) Error() string {
	text := e.err.Error()
	for _, token := range e.tokens {
		text = strings.ReplaceAll(text, token, Secret(token).String())
	}
	return text
}

// Unwrap returns the error as it was.
func (e *hiding) Unwrap() error { return e.err }

// hide returns err with a text without these tokens, in any spelling that addresses have. Texts of fewer than eight characters are
// no tokens.
func (t *TokenSet) hide(err error) error {
	if err == nil {
		return nil
	}
	e := &hiding{err: err}
	oauth1 := []string{t.Extra.Text("oauth_token"), t.Extra.Text("oauth_token_secret")}
	for _, token := range append(oauth1, string(t.AccessToken), string(t.RefreshToken), string(t.IDToken)) {
		if len(token) >= 8 {
			e.tokens = append(e.tokens, token, url.QueryEscape(token), url.PathEscape(token))
		}
	}
	return e
}
