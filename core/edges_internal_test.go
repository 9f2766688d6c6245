package core

import (
	"context"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/panics"
)

// TestProfilesWithoutAnID checks that a profile needs an ID, and that an address that cannot be normalized is dropped.
func TestProfilesWithoutAnID(t *testing.T) {
	t.Parallel()
	client := &oauthClient{OAuthProvider: OAuthProvider{ID: "p", Type: TypeOAuth, Profile: func(
		_ context.Context, p Profile, _ *TokenSet,
	) (*Person, error) {
		return &Person{AccountID: p.Text("id"), Email: p.Text("email")}, nil
	}}}
	made := func(string, string) (string, error) { return "u1", nil }
	for _, id := range []string{"", "undefined", "null"} {
		profile := Profile{"id": id, "email": "ada@example.com"}
		if who, err := identityOf(context.Background(), client, profile, &TokenSet{}, made); err == nil {
			t.Errorf("%q is %q", id, who.account.ProviderAccountID)
		}
	}
	for _, row := range []struct{ address, want string }{
		{"Ada@Example.com", "ada@example.com"}, {"ada@example.com, eve@example.com", ""},
		{"ada", ""}, {"a\x00@b.example", ""}, {"", ""},
	} {
		profile := Profile{"id": "1", "email": row.address}
		who, err := identityOf(context.Background(), client, profile, &TokenSet{}, made)
		if err != nil || who.user.Email != row.want {
			t.Errorf("%q becomes %q: %v", row.address, who.user.Email, err)
		}
	}
}

// TestBoundsOfWords checks that long texts of other parties are truncated.
func TestBoundsOfWords(t *testing.T) {
	t.Parallel()
	if got := panics.Bounded(strings.Repeat("x", 1<<20)); len(got) > 4096 {
		t.Errorf("what a panic says has %d bytes", len(got))
	}
}
