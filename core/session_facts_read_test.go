package core_test

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestAllocationsOfAFactualRead limits the extra allocations of a page request with facts and Session.Revocation: the
// session ID and its methods.
func TestAllocationsOfAFactualRead(t *testing.T) {
	reads := func(change func(*core.Config)) float64 {
		a, _ := factual(t, core.StrategyJWT, change)
		b := signedIn(t, a, "1")
		r := b.request("GET", "/page", "", "")
		return testing.AllocsPerRun(200, func() {
			if s, err := a.Visit(context.Background(), r).Session(); err != nil || s == nil {
				t.Fatal(s, err)
			}
		})
	}
	without := reads(func(c *core.Config) { c.Parts = nil })
	with := reads(func(c *core.Config) { c.Session.Revocation.On = core.On })
	if with > without+2 && !raced || with > 12 && !raced {
		t.Errorf("%v allocations with facts and Revocation, %v without", with, without)
	}
}

// TestFactsAmongClaims reads the session token in each place where the application receives it.
func TestFactsAmongClaims(t *testing.T) {
	t.Parallel()
	names := []string{"amr", "auth_time", "sid"}
	seen := map[string]core.Members{}
	note := func(where string, token *core.Token) { seen[where] = maps.Clone(token.Extra) }
	a, _ := factual(t, core.StrategyJWT, func(c *core.Config) {
		c.JWT.Revoked = func(_ context.Context, token *core.Token) (bool, error) {
			note("Revoked", token)
			return false, nil
		}
		c.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			note("callback", p.Token)
			return p.Token, p.Token.Extra.Set("both", "sides")
		}
	})
	b := signedIn(t, a, "1")
	first := b.session()
	r := b.request("GET", "/page", "", "")
	token, err := a.Token(t.Context(), r)
	if err != nil || token == nil {
		t.Fatal(token, err)
	}
	note("Token", token)
	for where, claims := range seen {
		for _, name := range names {
			if len(claims[name]) == 0 {
				t.Errorf("%s: no %s in %v", where, name, claims)
			}
		}
	}
	if _, there := first.Token.Extra["sid"]; there || first.Token.Extra.Text("both") != "sides" {
		t.Errorf("the token of a session has %v", first.Token.Extra)
	}
	written, err := json.Marshal(first.Token)
	if err != nil {
		t.Fatal(err)
	}
	at := func(name string) int { return strings.Index(string(written), `"`+name+`":`) }
	if order := []int{at("amr"), at("auth_time"), at("both"), at("sid")}; order[0] < 0 || !slices.IsSorted(order) {
		t.Errorf("members are not in order: %s", written)
	}
}

// TestFactsOfDecodersOfTheApplication uses JWT.Encode and JWT.Decode functions with their own token format, which
// return the same token twice.
func TestFactsOfDecodersOfTheApplication(t *testing.T) {
	t.Parallel()
	kept := &core.Token{}
	a, _ := factual(t, core.StrategyJWT, func(c *core.Config) {
		c.Session.Revocation.On = core.On
		c.JWT.Encode = func(_ context.Context, p core.EncodeParams) (string, error) {
			kept = &core.Token{Subject: p.Token.Subject, IssuedAt: start, Extra: p.Token.Extra}
			return "token", nil
		}
		c.JWT.Decode = func(context.Context, core.DecodeParams) (*core.Token, error) { return kept, nil }
	})
	b := signedIn(t, a, "1")
	claims := maps.Clone(kept.Extra)
	first, again := b.session(), b.session()
	if len(first.ID) != 22 || first.ID != again.ID || !first.AuthTime.Equal(start) || len(first.Methods) != 1 {
		t.Errorf("%+v, then %+v", first, again)
	}
	if !maps.EqualFunc(claims, kept.Extra, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
		t.Errorf("the application's token was changed: %v", kept.Extra)
	}
	if first.Token == kept {
		t.Error("two requests share a token")
	}
}

// TestMethodsOfATokenAreExact parses lists of methods that another program wrote.
func TestMethodsOfATokenAreExact(t *testing.T) {
	t.Parallel()
	a, _ := factual(t, core.StrategyJWT)
	for written, want := range map[string][]core.Method{
		`[]`: {}, `["pwd"]`: {"pwd"}, `["hwk","user"]`: {"hwk", "user"}, `[ "hwk" , "user" ]`: {"hwk", "user"},
		`["a,","b"]`: {"a,", "b"}, `["a,b"]`: {"a,b"}, `["a\"","\u0062"]`: {`a"`, "b"}, `[" ,"]`: {" ,"}, `[null]`: {""},
		`["a",1]`: nil, `[["a"]]`: nil, `{"a":"b"}`: nil, `null`: nil, `"pwd"`: nil, `7`: nil,
	} {
		t.Run(written, func(t *testing.T) {
			t.Parallel()
			var token core.Token
			claims := `{"sub":"1","auth_time":1893456000,"sid":"s","amr":` + written + `}`
			if err := json.Unmarshal([]byte(claims), &token); err != nil {
				t.Fatal(err)
			}
			sealed, err := a.SealToken(&token, sessionCookie, time.Hour)
			if err != nil {
				t.Fatal(err)
			}
			b := visit(t, a)
			b.cookies[sessionCookie] = sealed
			s := b.session()
			if s == nil || !slices.Equal(s.Methods, want) || s.AuthTime.IsZero() == (want != nil) {
				t.Errorf("%+v, want %v", s, want)
			}
		})
	}
}

// TestClaimsAreTheTokensOwn changes the text that a token was parsed from, and one of the token's claims.
func TestClaimsAreTheTokensOwn(t *testing.T) {
	t.Parallel()
	text := []byte(`{"sub":"1","role":"admin","team":"red"}`)
	var token core.Token
	if err := token.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	copy(text, `{"sub":"2","role":"owner","team":"xxx"}`)
	_ = append(token.Extra["role"], `,"team":"blue"}`...)
	if token.Subject != "1" || token.Extra.Text("role") != "admin" || token.Extra.Text("team") != "red" {
		t.Errorf("%s %s", token.Subject, token.Extra)
	}
}
