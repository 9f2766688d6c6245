package oauth_test

import (
	"errors"
	"testing"

	"github.com/latchkey-go/latchkey/internal/oauth"
)

func TestResponsesAreUsedOnce(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"code", "state", "iss", "error"} {
		_, err := oauth.ReadAnswer(query{"code": {"c"}, "state": {"s"}, name: {"the-code", "other"}})
		tells(t, err, "the authorization response has "+name+" more than once")
	}
	if _, err := oauth.ReadAnswer(query{"code": {"c"}, "error_description": {"a", "b"}}); err != nil {
		t.Errorf("a parameter that is not read may be repeated: %v", err)
	}
}

// TestAcceptIssuer checks RFC 9207: which responses are from the expected issuer.
func TestAcceptIssuer(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct {
		iss        []string // SELF is replaced by the issuer
		plain      bool     // OAuth without an issuer
		advertised bool
		tenants    bool
		refused    bool
	}{
		"right":                              {iss: []string{"SELF"}},
		"none":                               {},
		"none, advertised":                   {advertised: true, refused: true},
		"right, advertised":                  {iss: []string{"SELF"}, advertised: true},
		"another":                            {iss: []string{"https://evil.example"}, refused: true},
		"empty":                              {iss: []string{""}, refused: true},
		"another, and no issuer is known":    {iss: []string{"https://op.example"}, plain: true},
		"one of many tenants":                {iss: []string{"https://op.example/t1"}, tenants: true},
		"none of many tenants, advertised":   {tenants: true, advertised: true, refused: true},
		"right, and an error beside another": {iss: []string{"SELF"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProvider(t)
			config := p.openID()
			p.metadata["authorization_response_iss_parameter_supported"] = row.advertised
			if row.tenants {
				p.metadata["issuer"] = p.URL + "/{tenantid}"
				config.Issuer = p.URL + "/common"
			}
			if row.plain {
				config = p.config()
			}
			for i := range row.iss {
				if row.iss[i] == "SELF" {
					row.iss[i] = p.URL
				}
			}
			client := oauth.New(config)
			answer, err := oauth.ReadAnswer(query{"code": {"the-code"}, "iss": row.iss})
			if err != nil {
				t.Fatal(err)
			}
			if _, err = client.Accept(endpoints(t, client), answer); (err != nil) != row.refused {
				t.Errorf("refused: %v", err)
			}
		})
	}
}

func TestAcceptErrors(t *testing.T) {
	t.Parallel()
	client := oauth.New(newProvider(t).config())
	at := endpoints(t, client)
	for code, row := range map[string]struct{ visitor, client bool }{
		"access_denied": {visitor: true}, "login_required": {visitor: true}, "consent_required": {visitor: true},
		"interaction_required": {visitor: true}, "account_selection_required": {visitor: true},
		"invalid_request": {client: true}, "unauthorized_client": {client: true}, "invalid_scope": {client: true},
		"unsupported_response_type": {client: true}, "server_error": {}, "made_up": {},
	} {
		answer, err := oauth.ReadAnswer(query{"code": {"the-code"}, "error": {code}, "error_description": {"so\nit is"}})
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Accept(at, answer)
		tells(t, err, `provider "op" answered "`+code+`": "so\nit is"`)
		said, ok := errors.AsType[*oauth.AnswerError](err)
		if !ok || said.ByUser() != row.visitor || said.ByClient() != row.client {
			t.Errorf("%s: %+v", code, said)
		}
	}
}
