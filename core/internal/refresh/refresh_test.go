package refresh_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/refresh"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/internal/oauth"
)

var now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

// row is a store with one account.
type row struct {
	store.AccountStore
	account *store.Account
	updates int
	failing bool
}

func (r *row) Account(context.Context, string, string) (*store.Account, error) {
	return r.account.Clone(), nil
}

func (r *row) UpdateAccount(_ context.Context, a *store.Account) error {
	if r.updates++; r.failing {
		return store.ErrUnavailable
	}
	r.account = a.Clone()
	return nil
}

func account(access string, expires time.Time) *store.Account {
	return &store.Account{
		Provider: "op", ProviderAccountID: "1", RefreshToken: "r1", AccessToken: store.Secret(access), ExpiresAt: expires,
	}
}

// TestDo checks who sends the request, and which tokens are returned and stored.
func TestDo(t *testing.T) {
	t.Parallel()
	old, fresh := now.Add(-time.Minute), now.Add(time.Hour)
	for name, c := range map[string]struct {
		stored  *store.Account
		ask     error
		asked   int
		want    string
		updates int
	}{
		"no store":                        {nil, nil, 1, "new", 0},
		"stored":                          {account("old", old), nil, 1, "new", 1},
		"another process was faster":      {account("other", fresh), nil, 0, "other", 0},
		"another process, expired since":  {account("other", old), nil, 1, "new", 1},
		"no grant":                        {account("old", old), oauth.ErrInvalidGrant, 1, "", 0},
		"the provider cannot be reached":  {account("old", old), errors.New("timeout"), 1, "", 0},
		"no store, provider has no grant": {nil, oauth.ErrInvalidGrant, 1, "", 0},
	} {
		asked, kept := 0, &row{account: c.stored}
		var accounts store.AccountStore
		if c.stored != nil {
			accounts = kept
		}
		r := refresh.New(accounts, func() time.Time { return now })
		ask := func(_ context.Context, a *store.Account) (*store.Account, error) {
			asked++
			if c.ask != nil {
				return nil, c.ask
			}
			made := a.Clone()
			made.AccessToken, made.ExpiresAt = "new", fresh
			return made, nil
		}
		for range 2 { // the second call gets the result of the first
			got, err := r.Do(t.Context(), account("old", old), ask)
			if (err == nil) != (c.want != "") || err == nil && string(got.AccessToken) != c.want {
				t.Errorf("%s: %v, %v", name, got, err)
			}
			if err != nil {
				break
			}
		}
		if asked != c.asked || kept.updates != c.updates {
			t.Errorf("%s: %d requests, %d updates", name, asked, kept.updates)
		}
	}
}

// TestStoreFails checks that the next call stores the tokens that the store did not take, without another request.
func TestStoreFails(t *testing.T) {
	t.Parallel()
	kept := &row{account: account("old", now), failing: true}
	r := refresh.New(kept, func() time.Time { return now })
	asked := 0
	ask := func(_ context.Context, a *store.Account) (*store.Account, error) {
		asked++
		made := a.Clone()
		made.AccessToken, made.RefreshToken = "new", "r2"
		return made, nil
	}
	if _, err := r.Do(t.Context(), account("old", now), ask); !errors.Is(err, store.ErrUnavailable) {
		t.Fatal(err)
	}
	kept.failing = false
	got, err := r.Do(t.Context(), account("old", now), ask)
	if err != nil || got.RefreshToken != "r2" || kept.account.RefreshToken != "r2" || asked != 1 {
		t.Errorf("%v, %v, %d requests", got, err, asked)
	}
}

// TestRace checks that a refresh token which another process has used up meanwhile is no error.
func TestRace(t *testing.T) {
	t.Parallel()
	kept := &row{account: account("old", now)}
	r := refresh.New(kept, func() time.Time { return now })
	got, err := r.Do(t.Context(), account("old", now), func(context.Context, *store.Account) (*store.Account, error) {
		kept.account = account("other", now.Add(time.Hour))
		return nil, oauth.ErrInvalidGrant
	})
	if err != nil || got.AccessToken != "other" {
		t.Errorf("%v, %v", got, err)
	}
}

// TestPanics checks that a panic ends only the refresh.
func TestPanics(t *testing.T) {
	t.Parallel()
	r := refresh.New(nil, func() time.Time { return now })
	ask := func(context.Context, *store.Account) (*store.Account, error) { panic("x") }
	if _, err := r.Do(t.Context(), account("old", now), ask); err == nil {
		t.Error("no error")
	}
}

// TestValid checks when an access token must be refreshed.
func TestValid(t *testing.T) {
	t.Parallel()
	r := refresh.New(nil, func() time.Time { return now })
	for expires, want := range map[time.Time]bool{
		{}: true, now.Add(time.Minute): false, now.Add(61 * time.Second): true, now: false,
	} {
		if r.Valid(account("a", expires)) != want {
			t.Errorf("%v", expires)
		}
	}
}

// TestMerge checks which members of an account new tokens replace.
func TestMerge(t *testing.T) {
	t.Parallel()
	old := &store.Account{
		Provider: "op", AccessToken: "a1", RefreshToken: "r1", IDToken: "i1", Scope: "s1", TokenType: "t1",
		ExpiresIn: time.Hour, ExpiresAt: now, SessionState: []byte(`"s"`), AuthorizationDetails: []byte(`[1]`),
	}
	kept := refresh.Merge(old, &store.Account{AccessToken: "a2"})
	if kept.AccessToken != "a2" || kept.ExpiresIn != 0 || !kept.ExpiresAt.IsZero() || kept.RefreshToken != "r1" ||
		kept.IDToken != "i1" || kept.Scope != "s1" || kept.TokenType != "t1" || string(kept.SessionState) != `"s"` ||
		string(kept.AuthorizationDetails) != "[1]" || kept.Extra != nil {
		t.Errorf("kept %+v", kept)
	}
	fresh := refresh.Merge(kept, &store.Account{
		AccessToken: "a3", RefreshToken: "r3", IDToken: "i3", Scope: "s3", TokenType: "t3", SessionState: []byte(`"n"`),
		AuthorizationDetails: []byte(`[3]`), Extra: store.Members{"x": []byte("3")},
	})
	if fresh.RefreshToken != "r3" || fresh.IDToken != "i3" || fresh.Scope != "s3" || fresh.TokenType != "t3" ||
		string(fresh.SessionState) != `"n"` || string(fresh.AuthorizationDetails) != "[3]" ||
		string(fresh.Extra["x"]) != "3" || kept.Extra != nil || old.AccessToken != "a1" {
		t.Errorf("fresh %+v of %+v", fresh, kept)
	}
	again := refresh.Merge(fresh, &store.Account{Extra: store.Members{"y": []byte("4")}})
	if len(again.Extra) != 2 || len(fresh.Extra) != 1 {
		t.Errorf("members %v of %v", again.Extra, fresh.Extra)
	}
}
