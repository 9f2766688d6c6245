package core_test

import (
	"context"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

func TestClaimsAreExact(t *testing.T) {
	t.Parallel()
	var token core.Token
	err := token.UnmarshalJSON([]byte(`{"sub":"1","SUB":"2","role":"user","ROLE":"admin","n":1e3}`))
	if err != nil || token.Subject != "1" {
		t.Errorf("subject %q, %v", token.Subject, err)
	}
	if err := token.UnmarshalJSON([]byte(`{"sub":"1","sub":"2"}`)); err == nil {
		t.Error("a claim that is there twice was accepted")
	}
}

// TestClaimsTooLarge: the log has the largest claim, the size and the limit, and no values of claims.
func TestClaimsTooLarge(t *testing.T) {
	t.Parallel()
	for _, size := range []int{47_500, 60_000, 200_000} {
		a := newApp(t, core.Config{
			Providers: []core.Provider{passwords()},
			Callbacks: core.Callbacks{JWT: func(_ context.Context, p core.JWTParams) (*core.Token, error) {
				_ = p.Token.Extra.Set("small", "x")
				return p.Token, p.Token.Extra.Set("permissions", strings.Repeat("canary ", size/7))
			}},
		})
		b := visit(t, a)
		b.submit("/auth/callback/credentials", url.Values{"email": {"ada@example.com"}, "password": {"engine"}})
		if b.who() != "" {
			t.Fatalf("%d bytes: signed in", size)
		}
		for _, want := range []string{`permissions`, "Callbacks.JWT", "StrategyDatabase", "47232",
			strconv.Itoa(size / 1000)} {
			if !strings.Contains(a.log.String(), want) {
				t.Errorf("%d bytes: no %q in the log: %s", size, want, a.log)
			}
		}
		if strings.Contains(a.log.String(), "canary") {
			t.Errorf("%d bytes: the log has the value of a claim", size)
		}
	}
}
