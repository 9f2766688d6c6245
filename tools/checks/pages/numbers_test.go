package pages

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// number is a default value that pages state.
type number struct {
	name string
	// dir and source are the folder and the constant, or the assignment, that contains the value.
	dir, source string
	// says matches sentences with the value. Its group is the number with its unit. At least one sentence must match.
	says []string
}

// amount matches a number with its unit.
const amount = `((?:\d[\d,]*|an?|one|two|three|four|five|six|seven|eight|nine|ten|twelve|fifteen|twenty|thirty)` +
	`(?: (?:second|minute|hour|day|week)s?)?)`

var numbers = []number{
	{"password length", "providers/password", "defaultMinLength", []string{
		`password of ` + amount + ` characters`, `nothing is trimmed, cut or normalised; ` + amount + ` characters or more`,
		"`password.Options.MinLength` \\| " + amount + ` \|`, "with `providers/password`: (15) characters, or what",
	}},
	{"longest password check queue", "providers/password", "waitingPerSlot", []string{amount + ` for each may wait, `}},
	{"wait for a password check", "providers/password", "maxWait", []string{`for each may wait, ` + amount + ` at most`}},
	{"reset link", "providers/password", "o.ResetTTL", []string{
		"`password.Options.ResetTTL` \\| " + amount + ` \|`, "reset of a password \\|.*\\| " + amount + `, once`,
	}},
	{"sign-up link", "providers/password", "signUpTTL", []string{`sign-up waits in a record, for ` + amount}},
	{"email link", "core", "e.MaxAge", []string{
		"`(?:EmailProvider|providers.EmailOptions).MaxAge` \\| " + amount + ` \|`, "`EmailProvider.MaxAge` is " + amount,
		`A link is valid once, for ` + amount, `is valid for ` + amount + " unless `MaxAge`",
		`token of a mailed link \|.*\| ` + amount + `, once`,
	}},
	{"check cookies", "core/internal/cookies", "FlowLifetime", []string{
		`Check cookies live ` + amount,
		"`authjs.(?:state|pkce.code_verifier|nonce|challenge)` \\|.*\\| " + amount + `(?:, without Max-Age)? \|`,
		"MaxAge` \\| " + amount + ` for checks`, `leave it at zero, for ` + amount,
	}},
	{"form answer cookie", "core/internal/cookies", "FormAnswerLifetime", []string{
		"`authjs.form-answer` \\|.*\\| " + amount + ` \|`,
	}},
	{"pending sign-in", "core/internal/pendingsignin", "lifetime", []string{"`latchkey.pending` \\|.*\\| " + amount + ` \|`}},
	{"known browser", "core", "knownFor", []string{
		"latchkey.known` \\|.*\\| " + amount + ` \|`, "latchkey.known`, sealed, for " + amount,
	}},
	{"data of a session", "internal/sessiondata", "defaultMaxAge", []string{
		`insert with SQL takes effect after up to ` + amount,
	}},
	{"session", "core", "c.Session.MaxAge", []string{
		"`SessionConfig.MaxAge` \\| " + amount + ` \|`, "`SessionConfig.MaxAge`, " + amount + ` unless`,
		`sessions live ` + amount + ` without use`, `: ` + amount + ` without use, no absolute end`,
		`last use, ` + amount + ` unless set`,
	}},
	{"renewal of a session", "core", "c.Session.UpdateAge", []string{
		"`SessionConfig.UpdateAge` \\| " + amount + `[ ;|]`, "older than `UpdateAge`, " + amount,
	}},
	{"revocation", "internal/revocation", "defaultEvery", []string{"Revocation.Every` (?:\\| |\\()" + amount}},
	{"store timeout", "core", "c.StoreTimeout", []string{
		"`Config.StoreTimeout` (?:\\| |\\()" + amount, `of the store may take ` + amount + " \\(`Config.StoreTimeout`",
	}},
	{"clean-up", "core/internal/cleanup", "slotLength", []string{`About every ` + amount}},
	{"kept callback URL", "internal/callbackurl", "maxKept", []string{`Callback URLs\*\* of more than ` + amount + ` bytes`}},
	{"followed callback URL", "internal/callbackurl", "maxAsked", []string{`Those of more than ` + amount + ` bytes`}},
	{"fresh sign-in", "plugins/account", "defaultFresh", []string{
		"`Options.Fresh` \\(" + amount, "`account.Options.Fresh` \\| " + amount + ` \|`,
		`proved who they are in the last ` + amount,
		"with the module `account`: " + amount,
	}},
	{"examination of the doctor", "doctor", "o.Timeout", []string{
		`has a deadline \(` + amount + ", `doctor.Options.Timeout`", "`doctor.Options.Timeout` \\| " + amount + ` \|`,
	}},
	{"address change", "plugins/account", "changeTTL", []string{`It works for ` + amount + `, only \*\*in the session`}},
	{"undo of an address change", "plugins/account", "undoTTL", []string{`undoes the change, for ` + amount}},
	{"invitation", "plugins/account", "inviteTTL", []string{
		`right to sign up for ` + amount, "`account.Invitation.For` \\| " + amount + ` \|`,
	}},
}

// numerals maps number words to digits.
var numerals = map[string]string{
	"a": "1", "an": "1", "one": "1", "two": "2", "three": "3", "four": "4", "five": "5", "six": "6", "seven": "7",
	"eight": "8", "nine": "9", "ten": "10", "twelve": "12", "fifteen": "15", "twenty": "20", "thirty": "30",
}

// timeUnits maps unit names to durations.
var timeUnits = map[string]time.Duration{
	"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour,
}

// stated returns the value on a page: a number, or a duration in nanoseconds.
func stated(text string) (int64, error) {
	count, unit, _ := strings.Cut(strings.ReplaceAll(text, ",", ""), " ")
	if word, ok := numerals[strings.ToLower(count)]; ok {
		count = word
	}
	n, err := strconv.ParseInt(count, 10, 64)
	if err != nil || unit == "" {
		return n, err
	}
	return n * int64(timeUnits[strings.TrimSuffix(unit, "s")]), nil
}

// valueOf returns the value of a name in the code.
func valueOf(t *testing.T, dir, name string) int64 {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(top, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	assigned := regexp.MustCompile(`(?m)^\s*(?:const )?` + regexp.QuoteMeta(name) + `\s*=\s*([^/\n]+)`)
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		m := assigned.FindSubmatch(raw)
		if m == nil || strings.HasSuffix(file, "_test.go") {
			continue
		}
		e, err := parser.ParseExpr(strings.TrimSpace(string(m[1])))
		if err != nil {
			t.Fatalf("%s of %s: %v", name, dir, err)
		}
		value, err := evaluate(e)
		if err != nil {
			t.Fatalf("%s of %s: %v", name, dir, err)
		}
		return value
	}
	t.Fatalf("%s has no %s", dir, name)
	return 0
}

// evaluate evaluates a constant expression of numbers, units of package time and products.
func evaluate(e ast.Expr) (int64, error) {
	switch e := e.(type) {
	case *ast.BasicLit:
		return strconv.ParseInt(e.Value, 0, 64)
	case *ast.SelectorExpr:
		if unit, ok := timeUnits[strings.ToLower(e.Sel.Name)]; ok {
			return int64(unit), nil
		}
	case *ast.CallExpr: // cmp.Or(field, default)
		if called, ok := e.Fun.(*ast.SelectorExpr); ok && called.Sel.Name == "Or" {
			return evaluate(e.Args[len(e.Args)-1])
		}
	case *ast.BinaryExpr:
		x, err := evaluate(e.X)
		y, other := evaluate(e.Y)
		if err == nil && other == nil && e.Op == token.MUL {
			return x * y, nil
		}
	}
	return 0, fmt.Errorf("%T is no number", e)
}

// TestNumbers compares the defaults that pages state with the code.
func TestNumbers(t *testing.T) {
	t.Parallel()
	texts := map[string]string{}
	for _, p := range pages(t) {
		if p.path == "CHANGELOG.md" {
			continue
		}
		var text strings.Builder
		for _, l := range p.lines {
			text.WriteString(l.text)
			if l.text == "" || strings.HasPrefix(l.text, "|") {
				text.WriteString("\n") // a paragraph or a row ends
			}
			text.WriteString(" ")
		}
		texts[p.path] = text.String()
	}
	for _, n := range numbers {
		t.Run(n.name, func(t *testing.T) {
			want, found := valueOf(t, n.dir, n.source), 0
			for _, pattern := range n.says {
				says := regexp.MustCompile(pattern)
				for path, text := range texts {
					for _, m := range says.FindAllStringSubmatch(text, -1) {
						found++
						if got, err := stated(m[1]); err != nil || got != want {
							t.Errorf("%s: %q is not %s of %s", path, m[0], n.source, n.dir)
						}
					}
				}
			}
			if found == 0 {
				t.Error("no page states it: change the patterns")
			}
		})
	}
}

// TestWrongNumbersAreFound: number words and digits, with and without a unit.
func TestWrongNumbersAreFound(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]int64{
		"15": 15, "fifteen": 15, "2,000": 2000, "five minutes": int64(5 * time.Minute), "a day": int64(24 * time.Hour),
		"24 hours": int64(24 * time.Hour), "1 minute": int64(time.Minute), "seven days": int64(7 * 24 * time.Hour),
	} {
		if got, err := stated(text); err != nil || got != want {
			t.Errorf("%q is read as %d, %v", text, got, err)
		}
	}
	if _, err := stated("some"); err == nil {
		t.Error("some is a number")
	}
}
