package core_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestSessionUpdateFromOutside posts data for claims that are not the visitor's to choose.
func TestSessionUpdateFromOutside(t *testing.T) {
	t.Parallel()
	a := newApp(t, core.Config{Providers: []core.Provider{passwords()}})
	b := visit(t, a)
	signIn(t, b)
	body, _ := json.Marshal(map[string]any{"csrfToken": b.csrf(), "data": map[string]any{
		"sub": "2", "id": "2", "email": "eve@evil.example", "name": "Eve", "exp": int64(4102444800), "iat": 1, "jti": "mine",
		"roles": []string{"admin"},
		"user":  map[string]any{"id": "2", "email": "eve@evil.example"}, "expires": "2100-01-01T00:00:00Z",
	}})
	r := b.send("POST", "/auth/session", "application/json", string(body))
	if r.Status != 200 || strings.Contains(string(r.Body), "evil") || strings.Contains(string(r.Body), "admin") ||
		!strings.Contains(string(r.Body), "ada@example.com") || !strings.Contains(string(r.Body), "2030-01-31") {
		t.Errorf("answered %d: %s", r.Status, r.Body)
	}
	token, err := a.OpenToken(b.cookies[sessionCookie], sessionCookie)
	if err != nil || token.Subject != "1" || token.Email != "ada@example.com" || token.ID == "mine" ||
		len(token.Extra) > 0 || token.Expires.Year() != 2030 {
		t.Errorf("token %+v, %v", token, err)
	}
}
