package core_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// TestProfileMembers reads members of a profile as what they are, and as nothing where they are something else.
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

// TestStandardProfile maps the standard claims; what is there first is the name, and an address must be a text.
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

// TestPersonInLogs: a log that is handed a person learns the ID of the account alone.
func TestPersonInLogs(t *testing.T) {
	t.Parallel()
	var log strings.Builder
	ada := core.Person{AccountID: "1", Name: "Ada", Email: "ada@example.com", Image: "https://img.example/ada"}
	slog.New(slog.NewTextHandler(&log, nil)).InfoContext(t.Context(), "mapped", "person", ada, "pointer", &ada)
	if text := log.String(); strings.Count(text, "account_id=1") != 2 || strings.Contains(strings.ToLower(text), "ada") {
		t.Errorf("the log says %s", text)
	}
}
