package oauth

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/latchkey-go/latchkey/core/internal/exactjson"
	"github.com/latchkey-go/latchkey/core/internal/upstream"
)

// ErrInvalidGrant says that the provider no longer accepts a code or a refresh token.
var ErrInvalidGrant = errors.New("core: the provider refuses the refresh token (invalid_grant)")

// Refusal is what a token endpoint says when it gives no tokens: the error code of RFC 6749 section 5.2, and nothing
// else of the body.
type Refusal struct {
	Status int
	Code   string
}

// refusalOf reads the error code of an answer.
func refusalOf(answer *upstream.Response) *Refusal {
	r := &Refusal{Status: answer.Status}
	if members, err := exactjson.DecodeObject(answer.Body); err == nil {
		switch v := members["error"].(type) {
		case string:
			r.Code = v
		case json.Number:
			r.Code = v.String()
		}
	}
	return r
}

// Error has status and code, bounded.
func (r *Refusal) Error() string { return fmt.Sprintf("status %d, error %.100q", r.Status, r.Code) }

// Is reports whether target is [ErrInvalidGrant] and the refusal says so.
func (r *Refusal) Is(target error) bool {
	return target == ErrInvalidGrant && r.Code == "invalid_grant"
}

// OfClient reports whether the endpoint does not take this client, whatever it asks for. GitHub has a word of its own
// for that.
func (r *Refusal) OfClient() bool {
	switch r.Code {
	case "invalid_client", "unauthorized_client", "incorrect_client_credentials":
		return true
	}
	return false
}

// mend says which fields to look at when a token endpoint does not take this client, empty for other refusals.
func (t tokenEndpoint) mend(r *Refusal) string {
	if !r.OfClient() {
		return ""
	}
	fields := fmt.Sprintf("ClientID and ClientSecret (%s, %s)", t.Variable("ID"), t.Variable("SECRET"))
	switch t.ClientAuth {
	case PrivateKeyJWT:
		fields = fmt.Sprintf("ClientID (%s) and ClientKey (%s)", t.Variable("ID"), t.Variable("PRIVATE_KEY"))
	case ClientAuthNone:
		fields = fmt.Sprintf("ClientID (%s), and whether the client is registered as a public one", t.Variable("ID"))
	}
	const format = ": the provider does not take this client: check %s, and ClientAuth, which is %s"
	return fmt.Sprintf(format, fields, t.ClientAuth)
}
