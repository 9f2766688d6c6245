package form_test

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/form"
)

// TestAttacks tests hostile bodies that this package rejects. Bodies that a server rejects before they are read
// (length, slow bodies, streams), and valid ones without a CSRF token, are tested by the adapters' kit.
func TestAttacks(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile("testdata/bodies.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Payloads []struct {
			ID, Want, Why, Type, Body, Method string
			BodyHex                           string `json:"body_hex"`
			Build                             [][2]any
			Stream, Drip                      any
		}
	}
	if err := json.Unmarshal(raw, &file); err != nil {
		t.Fatal(err)
	}
	// parses lists valid bodies without a token.
	parses := map[string]bool{
		"BO-016": true, "BO-017": true, "BO-018": true, "BO-019": true, "BO-022": true, "BO-023": true, "BO-024": true,
	}
	ran := 0
	for _, p := range file.Payloads {
		if p.Stream != nil || p.Drip != nil || p.Method != "" {
			continue
		}
		ran++
		t.Run(p.ID, func(t *testing.T) {
			body := p.Body
			if p.BodyHex != "" {
				decoded, _ := hex.DecodeString(p.BodyHex)
				body = string(decoded)
			}
			for _, part := range p.Build {
				body += strings.Repeat(part[0].(string), int(part[1].(float64)))
			}
			f, err := form.Read(t.Context(), []string{p.Type}, strings.NewReader(body))
			switch {
			case p.Want == "413":
				if !errors.As(err, new(form.TooLarge)) {
					t.Errorf("%s: error %v, want TooLarge", p.Why, err)
				}
			case parses[p.ID]:
				if token, ok := f.Text("csrfToken"); ok {
					t.Errorf("%s: it has the token %q", p.Why, token)
				}
			case err == nil:
				t.Errorf("%s: it was read", p.Why)
			}
		})
	}
	if ran < 20 {
		t.Fatalf("only %d payloads", ran)
	}
}

func TestFields(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name, contentType, body string
		text                    string
		there                   bool
	}{
		{"form", "application/x-www-form-urlencoded", "a=1", "1", true},
		{"form, last value", "application/x-www-form-urlencoded", "a=1&a=2", "2", true},
		{"form with charset", "application/x-www-form-urlencoded; charset=UTF-8", "a=1", "1", true},
		{"JSON", "application/json", `{"a":"1"}`, "1", true},
		{"JSON, other case", "application/json", `{"A":"1"}`, "", false},
		{"JSON number", "application/json", `{"a":1}`, "", false},
		{"JSON null", "application/json", `{"a":null}`, "", false},
		{"no media type", "", "a=1", "", false},
		{"media type with ours inside", "text/plain; application/json", `{"a":"1"}`, "", false},
		{"media type that begins like ours", "application/jsonp", `{"a":"1"}`, "", false},
	} {
		t.Run(row.name, func(t *testing.T) {
			f, err := form.Read(t.Context(), []string{row.contentType}, strings.NewReader(row.body))
			if err != nil {
				t.Fatal(err)
			}
			if text, there := f.Text("a"); text != row.text || there != row.there {
				t.Errorf("got %q, %v", text, there)
			}
		})
	}
}

func FuzzRead(f *testing.F) {
	f.Add("application/json", `{"a":{"b":[1]}}`)
	f.Add("application/x-www-form-urlencoded", "a=%41&b")
	f.Fuzz(func(t *testing.T, contentType, body string) {
		fields, err := form.Read(t.Context(), []string{contentType}, io.LimitReader(strings.NewReader(body), 1<<16))
		if err != nil && len(fields.Names()) > 0 {
			t.Fatal("fields together with an error")
		}
		for _, name := range fields.Names() {
			fields.Text(name)
			if raw := fields.Raw(name); raw != nil && !json.Valid(raw) {
				t.Fatalf("field %q is no JSON", name)
			}
		}
	})
}
