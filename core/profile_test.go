package core_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestProfileMembers reads members of a profile with the method of their type, and gets the zero value for any other
// type.
func TestProfileMembers(t *testing.T) {
	t.Parallel()
	var p core.Profile
	const body = `{"text":"Ann","empty":"","null":null,"yes":true,"no":false,"list":[1,"a"],
		"object":{"inner":{"name":"Ann"}},
		"large":12345678901234567890,"other":12345678901234567891,"exponent":1.5e3,"fraction":0.10,"tiny":1e-3,"huge":1e9999}`
	if err := json.Unmarshal([]byte(body), &p); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]string{
		"text": "Ann", "empty": "", "null": "", "yes": "", "list": "", "object": "", "absent": "", "Text": "",
		"large": "12345678901234567890", "other": "12345678901234567891", "exponent": "1500", "fraction": "0.1",
		"tiny": "0.001", "huge": "1e9999",
	} {
		if got := p.Text(name); got != want {
			t.Errorf("Text(%q) is %q, want %q", name, got, want)
		}
	}
	for what, row := range map[string][2]any{
		"an object":                {p.Object("object").Object("inner").Text("name"), "Ann"},
		"what is no object":        {p.Object("text").Object("inner").Text("name"), ""},
		"a list":                   {fmt.Sprint(p.List("list")), "[1 a]"},
		"what is no list":          {len(p.List("text")), 0},
		"true":                     {p.Bool("yes"), true},
		"false":                    {p.Bool("no"), false},
		"a text that is no true":   {p.Bool("text"), false},
		"the first that is a text": {p.First("absent", "null", "empty", "list", "text", "large"), "Ann"},
		"the first of none":        {p.First("absent", "null"), ""},
	} {
		if row[0] != row[1] {
			t.Errorf("%s: %v, want %v", what, row[0], row[1])
		}
	}
	for _, bad := range []string{`[]`, `{"a":1,"a":2}`, `{"a":`, `"text"`} {
		if err := json.Unmarshal([]byte(bad), &p); err == nil {
			t.Errorf("%s is a profile", bad)
		}
	}
}

// TestStandardProfile maps the standard claims. The first name claim that is present is the name, and an address must
// be a string.
func TestStandardProfile(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		body string
		want string // empty: an error
	}{
		{`{"sub":"1","name":"Ann","email":"a@example.com","picture":"https://img/a"}`, "1 Ann a@example.com https://img/a"},
		{`{"id":7,"nickname":"ann","preferred_username":"other"}`, "7 ann  "},
		{`{"sub":null,"id":"8","name":null,"preferred_username":"ann"}`, "8 ann  "},
		{`{"sub":"1","email":["a@example.com"]}`, ""},
		{`{"sub":"1","email":{"value":"a@example.com"}}`, ""},
	} {
		t.Run(row.body, func(t *testing.T) {
			var p core.Profile
			if err := json.Unmarshal([]byte(row.body), &p); err != nil {
				t.Fatal(err)
			}
			got := ""
			u, err := core.StandardProfile(t.Context(), p, nil)
			if err == nil {
				got = fmt.Sprint(u.AccountID, " ", u.Name, " ", u.Email, " ", u.Image)
			}
			if got != row.want {
				t.Errorf("got %q, %v, want %q", got, err, row.want)
			}
		})
	}
}

// TestPersonInLogs checks that a logged Person shows only the account ID.
func TestPersonInLogs(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	ada := core.Person{AccountID: "1", Name: "Ada", Email: "ada@example.com", Image: "https://img.example/ada"}
	slog.New(slog.NewTextHandler(&log, nil)).InfoContext(t.Context(), "mapped", "person", ada, "pointer", &ada)
	if text := log.String(); strings.Count(text, "account_id=1") != 2 || strings.Contains(strings.ToLower(text), "ada") {
		t.Errorf("the log is %s", text)
	}
}

// claimsOfAda lists claims of a profile, and how an application reads them.
var claimsOfAda = map[string]struct {
	claims string
	good   func(core.Profile) bool
}{
	"texts": {`"given_name":"Ada","family_name":"Lovelace","middle_name":"King","nickname":"ada",` +
		`"preferred_username":"ada","profile":"https://ada.example","gender":"female","birthdate":"1815-12-10",` +
		`"locale":"en-GB","phone_number":"+44 1","website":"https://ada.example","zoneinfo":"Europe/London","id":"7"`,
		func(p core.Profile) bool {
			for name, want := range map[string]string{
				"sub": "s1", "id": "7", "name": "Somebody", "given_name": "Ada", "family_name": "Lovelace", "middle_name": "King",
				"nickname": "ada", "preferred_username": "ada", "profile": "https://ada.example", "email": "ada@x.example",
				"gender": "female", "birthdate": "1815-12-10", "locale": "en-GB", "phone_number": "+44 1",
				"website": "https://ada.example", "zoneinfo": "Europe/London",
			} {
				if p.Text(name) != want {
					return false
				}
			}
			return true
		}},
	"null": {`"given_name":null,"locale":null,"address":null,"email_verified":null,"updated_at":null`,
		func(p core.Profile) bool {
			v, there := p["given_name"]
			return there && v == nil && p.Text("given_name")+p.Text("locale") == "" && p.Object("address") == nil
		}},
	"email_verified": {`"email_verified":true`, func(p core.Profile) bool { return p.Bool("email_verified") }},
	"picture": {`"picture":{"data":{"url":"https://img.example/a"}}`, func(p core.Profile) bool {
		return p.Object("picture").Object("data").Text("url") == "https://img.example/a"
	}},
	"updated_at": {`"updated_at":1893456000`, func(p core.Profile) bool { return p.Text("updated_at") == "1893456000" }},
	"updated_at, a text": {`"updated_at":"2030-01-01"`,
		func(p core.Profile) bool { return p.Text("updated_at") == "2030-01-01" }},
	"address": {`"address":{"country":"a","formatted":"b","locality":"c","postal_code":"d","region":"e",` +
		`"street_address":"f"}`, func(p core.Profile) bool {
		all, address := "", p.Object("address")
		for _, name := range []string{"country", "formatted", "locality", "postal_code", "region", "street_address"} {
			all += address.Text(name)
		}
		return all == "abcdef"
	}},
	"further": {`"groups":["a","b"]`, func(p core.Profile) bool { return fmt.Sprint(p.List("groups")) == "[a b]" }},
}

// TestProfileClaims checks that a signIn callback can read the standard claims of OpenID Connect with their types, and
// other claims unchanged.
func TestProfileClaims(t *testing.T) {
	t.Parallel()
	for name, row := range claimsOfAda {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen core.Profile
			w := newTown(t, power{true, true, true, true}, core.StrategyJWT, func(c *core.Config) {
				c.Callbacks.SignIn = func(_ context.Context, p core.SignInParams) (core.SignInResult, error) {
					seen = p.Profile
					return core.Allow(), nil
				}
			})
			if r := w.through(w.browser(), "plain", "s1", "ada@x.example", ","+row.claims); r.Err != nil || seen == nil {
				t.Fatalf("profile %v, %v", seen, r.Err)
			}
			if !row.good(seen) {
				t.Errorf("the profile is %v", seen)
			}
		})
	}
}
