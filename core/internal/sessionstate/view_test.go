package sessionstate_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/sessionstate"
	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/sessiondata"
)

// TestView checks the JSON form of a session, and that it is parsed again.
func TestView(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 2, 3, 4, 5, 600_000_000, time.UTC)
	for name, row := range map[string]struct {
		view sessionstate.View
		id   string
		want string
	}{
		"nothing": {sessionstate.View{}, "", `{}`},
		"a user": {
			sessionstate.View{User: &store.User{ID: "u1", Name: "Ada", Email: "ada@x.example"}, Expires: at}, "",
			`{"user":{"name":"Ada","email":"ada@x.example"},"expires":"2030-01-02T03:04:05.600Z"}`,
		},
		"with an ID": {
			sessionstate.View{User: &store.User{ID: "u1", Name: "Ada"}}, "u1", `{"user":{"id":"u1","name":"Ada"}}`,
		},
		"more": {
			sessionstate.View{Extra: store.Members{"a": json.RawMessage("1")}}, "", `{"a":1}`,
		},
		"the application's members": {
			sessionstate.View{Extra: store.Members{"user": json.RawMessage("1"), "expires": json.RawMessage("2")}}, "",
			`{"expires":2,"user":1}`,
		},
		"no member twice": {
			sessionstate.View{
				User: &store.User{Name: "Ada"}, Expires: at,
				Extra: store.Members{"user": json.RawMessage("1"), "expires": json.RawMessage("2")},
			}, "", `{"user":{"name":"Ada"},"expires":"2030-01-02T03:04:05.600Z"}`,
		},
	} {
		got := string(row.view.Append(nil, row.id))
		if got != row.want {
			t.Errorf("%s: %s", name, got)
		}
		var parsed sessionstate.View
		if err := parsed.Parse([]byte(got)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		id := ""
		if parsed.User != nil {
			id = parsed.User.ID
		}
		if again := string(parsed.Append(nil, id)); again != got {
			t.Errorf("%s: parsed as %s", name, again)
		}
	}
	for _, text := range []string{`{"expires":"soon"}`, `{"user":{"name":1`, `[]`, ``} {
		var parsed sessionstate.View
		if err := parsed.Parse([]byte(text)); err == nil {
			t.Errorf("%s is parsed", text)
		}
	}
}

// TestWithData checks that a token gets the data of Latchkey, and that the token before does not change.
func TestWithData(t *testing.T) {
	t.Parallel()
	for name, row := range map[string]struct{ own, raw, want string }{
		"none":     {"", "", ""},
		"added":    {"", "1", "1"},
		"equal":    {"1", "1", "1"},
		"replaced": {"2", "1", "1"},
		"removed":  {"2", "", ""},
	} {
		before := &token.Token{Subject: "u1"}
		if row.own != "" {
			before.Extra = store.Members{sessiondata.Claim: json.RawMessage(row.own)}
		}
		var raw json.RawMessage
		if row.raw != "" {
			raw = json.RawMessage(row.raw)
		}
		after := sessionstate.WithData(before, raw)
		if got := string(after.Extra[sessiondata.Claim]); got != row.want || after.Subject != "u1" {
			t.Errorf("%s: %q", name, got)
		}
		if got := string(before.Extra[sessiondata.Claim]); got != row.own || (after == before) != (row.own == row.want) {
			t.Errorf("%s: the token before has %q", name, got)
		}
	}
}
