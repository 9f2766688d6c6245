package mailaddr_test

import (
	"encoding/json"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/mailaddr"
)

func read(t *testing.T, name string, into any) {
	t.Helper()
	raw, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		t.Fatal(err)
	}
}

// oneMailbox contains the cases with another result than in the file: a mailbox has one form, whichever way its domain
// is spelled.
var oneMailbox = map[string]string{"EM-007": "user@münchen.example"}

// TestAttacks tests hostile identifiers that this package rejects. Bodies with a value other than one string are
// rejected by package form.
func TestAttacks(t *testing.T) {
	t.Parallel()
	var file struct {
		Payloads []struct {
			ID, Value, Raw, Want, Why string
			Build                     [][2]any
			Body                      any
		}
	}
	read(t, "emails.json", &file)
	ran := 0
	for _, p := range file.Payloads {
		if p.Body != nil {
			continue
		}
		ran++
		t.Run(p.ID, func(t *testing.T) {
			value := p.Value
			if p.Raw != "" {
				value, _ = url.PathUnescape(p.Raw)
			}
			for _, part := range p.Build {
				value += strings.Repeat(part[0].(string), int(part[1].(float64)))
			}
			got, err := mailaddr.Normalize(value)
			class, address, _ := strings.Cut(p.Want, ":")
			if decided, ok := oneMailbox[p.ID]; ok {
				address = decided
			}
			switch class {
			case "accept":
				if got != address {
					t.Errorf("%s: got %q, %v, want %q", p.Why, got, err, address)
				}
			case "reject":
				if err == nil {
					t.Errorf("%s: accepted as %q", p.Why, got)
				}
			case "accept-or-reject":
				if err == nil && got != address {
					t.Errorf("%s: accepted as %q, only %q would do", p.Why, got, address)
				}
			case "no-collide":
				if got == address {
					t.Errorf("%s: became the address of another person", p.Why)
				}
			case "no-collide-or-same":
				if err == nil && got != address && strings.EqualFold(got, address) {
					t.Errorf("%s: a second spelling, %q", p.Why, got)
				}
			default:
				t.Errorf("unknown class %q", p.Want)
			}
		})
	}
	if ran < 50 {
		t.Fatalf("only %d payloads", ran)
	}
}

func FuzzNormalize(f *testing.F) {
	for _, s := range []string{
		"User@Example.com", "a@b,c", "\"x\"@y.z", "ü@ü.example", "a@xn--bcher-kva.example", "a@xn--a-.xn--", "a@b@c",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := mailaddr.Normalize(s)
		if err != nil {
			if got != "" {
				t.Fatalf("an address together with an error: %q", got)
			}
			return
		}
		if again, err := mailaddr.Normalize(got); err != nil || again != got {
			t.Fatalf("not canonical: %q became %q, %v", got, again, err)
		}
		if again, err := mailaddr.Normalize(mailaddr.ASCII(got)); err != nil || again != got {
			t.Fatalf("%q is another mailbox in ASCII: %q, %v", got, again, err)
		}
		if strings.ContainsAny(got, " \t\r\n\x00,;<>()\"\\[]") || strings.Count(got, "@") != 1 {
			t.Fatalf("%q holds more than one plain address", got)
		}
	})
}

// TestRecorded compares with recorded results of the reference implementation.
func TestRecorded(t *testing.T) {
	t.Parallel()
	var cases []struct {
		Input, Result string
		Throws        any
	}
	read(t, "recorded.json", &cases)
	if len(cases) == 0 {
		t.Fatal("no recorded cases")
	}
	for _, c := range cases {
		t.Run(c.Input, func(t *testing.T) {
			got, err := mailaddr.Normalize(c.Input)
			if (err != nil) != (c.Throws != nil) || got != c.Result {
				t.Errorf("got %q, %v, want %q", got, err, c.Result)
			}
		})
	}
}
