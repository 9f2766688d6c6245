package ui_test

import (
	"context"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/ui"
)

// ownTexts returns the texts in the files of this package, by key.
func ownTexts(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	for _, name := range []string{"texts.go", "locale.go"} {
		file, err := parser.ParseFile(gotoken.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok || len(literal.Elts) != 2 {
				return true
			}
			key, english := element(literal, "Key"), element(literal, "English")
			if key != "" && english != "" {
				found[key] = english
			}
			return true
		})
	}
	if len(found) < 40 {
		t.Fatalf("found %d texts", len(found))
	}
	return found
}

// element returns a string of a composite literal, if it is constant.
func element(literal *ast.CompositeLit, name string) string {
	for _, e := range literal.Elts {
		pair, ok := e.(*ast.KeyValueExpr)
		if !ok {
			continue
		}
		if id, ok := pair.Key.(*ast.Ident); ok && id.Name == name {
			return constant(pair.Value)
		}
	}
	return ""
}

func constant(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		return constant(e.X) + constant(e.Y)
	}
	return ""
}

// marked returns a language in which every text is its key in brackets.
func marked(t *testing.T) ui.Locale {
	t.Helper()
	l := ui.Locale{Tag: "x-marked", Dir: "rtl", Texts: map[string]string{}}
	for key, english := range ownTexts(t) {
		l.Texts[key] = "[" + key + "]"
		if strings.Contains(english, "%s") {
			l.Texts[key] += "%s"
		}
	}
	for _, label := range []string{"Email", "Credentials", "Passkey", "Mock", "Plain", "Username", "Password"} {
		l.Texts["label."+label], l.Texts["provider."+label] = "[label]", "[provider]"
	}
	return l
}

var (
	styleOrScript = regexp.MustCompile(`(?s)<(style|script)[^>]*>.*?</(style|script)>`)
	tags          = regexp.MustCompile(`<[^>]*>`)
	brackets      = regexp.MustCompile(`\[[a-z.-]*\]`)
	spoken        = regexp.MustCompile(` (?:alt|placeholder|label|title|aria-label)="[^"]*[A-Za-z]{2}[^"]*"`)
	arguments     = strings.NewReplacer("app.test", "", "ada@example.com", "", "7KQ2-M9XD", "")
)

func TestPagesSayNothingButTexts(t *testing.T) {
	l := marked(t)
	for _, e := range []string{
		"", "Signin", "OAuthAccountNotLinked", "EmailSignin", "CredentialsSignin", "SessionRequired", "made up",
	} {
		v := signIn(ui.Page{BasePath: "/auth", Locale: l}, mock, plain, email, credentials, passkey)
		v.Error, v.Reference = e, "7KQ2-M9XD"
		saysTexts(t, "sign-in "+e, render(t, ui.SignInPage(v)))
	}
	for _, e := range []string{
		"", "Configuration", "AccessDenied", "TooManyRequests", "ServiceUnavailable", "Verification",
	} {
		saysTexts(t, "error "+e, render(t, ui.ErrorPage(ui.ErrorView{
			Page: ui.Page{Locale: l}, Error: e, Reference: "7KQ2-M9XD", URL: "https://app.test", Host: "app.test",
		})))
	}
	p := ui.Page{Locale: l, BasePath: "/auth"}
	saysTexts(t, "none", render(t, ui.SignInPage(ui.SignInView{Page: p})))
	saysTexts(t, "sign-out", render(t, ui.SignOutPage(ui.SignOutView{Page: p})))
	saysTexts(t, "verify", render(t, ui.VerifyRequestPage(ui.VerifyRequestView{Page: p})))
	saysTexts(t, "confirm", render(t, ui.ConfirmPage(ui.ConfirmView{Page: p, Email: "ada@example.com", Action: "/a"})))
	saysTexts(t, "confirm nobody", render(t, ui.ConfirmPage(ui.ConfirmView{Page: p, Action: "/a"})))
}

func saysTexts(t *testing.T, name, page string) {
	t.Helper()
	if !strings.Contains(page, `<html lang="x-marked" dir="rtl">`) {
		t.Errorf("%s: the document does not say its language: %.120s", name, page)
	}
	page = brackets.ReplaceAllString(styleOrScript.ReplaceAllString(page, ""), "")
	for _, attribute := range spoken.FindAllString(page, -1) {
		t.Errorf("%s: an attribute is in English:%s", name, attribute)
	}
	if rest := strings.Fields(arguments.Replace(tags.ReplaceAllString(page, " "))); len(rest) > 0 {
		t.Errorf("%s: these words are no texts: %q", name, rest)
	}
}

func TestComponentsInALanguage(t *testing.T) {
	l := ui.Locale{Tag: "de", Texts: map[string]string{
		"signin.heading": "Anmelden", "signin.with": "Mit %s anmelden", "signout.button": "Abmelden",
		"provider.Mock": "Muster",
	}}
	state := &ui.State{BasePath: "/auth", CSRFToken: "t", Locale: l, Providers: []ui.Provider{mock}}
	ctx := ui.WithState(context.Background(), state)
	var b strings.Builder
	for _, c := range []struct {
		name, want string
	}{{"", ">Anmelden<"}, {"mock", ">Mit Muster anmelden<"}} {
		b.Reset()
		if err := ui.SignIn(c.name).Render(ctx, &b); err != nil || !strings.Contains(b.String(), c.want) {
			t.Errorf("SignIn(%q): %s (%v), want %s", c.name, b.String(), err, c.want)
		}
	}
	b.Reset()
	if err := ui.SignOut().Render(ctx, &b); err != nil || !strings.Contains(b.String(), ">Abmelden<") {
		t.Errorf("SignOut: %s (%v)", b.String(), err)
	}
}

func TestLocaleSay(t *testing.T) {
	hello := ui.Text{Key: "hello", English: "Hello %s!"}
	for _, c := range []struct {
		name, words, argument, want string
	}{
		{"English", "", "Ada", "Hello Ada!"},
		{"argument first", "%s, salut", "Ada", "Ada, salut"},
		{"argument with a mark", "", "%s", "Hello %s!"},
		{"no place for it", "Hei", "Ada", "HeiAda"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := ui.Locale{Texts: map[string]string{"hello": c.words}}
			if got := l.Say(hello.With(c.argument)); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
	if got := (ui.Locale{}).Say(hello); got != "Hello !" {
		t.Errorf("without argument: %q", got)
	}
}

func TestLocaleDates(t *testing.T) {
	at := time.Date(2026, 5, 3, 16, 4, 0, 0, time.FixedZone("", 3600))
	german := map[string]string{
		"date": "2. January 2006", "moment": "2. January 2006, 15:04 UTC",
		"months": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
	}
	for _, c := range []struct {
		name      string
		texts     map[string]string
		day, time string
	}{
		{"English", nil, "May 3, 2026", "May 3, 2026 at 15:04 UTC"},
		{"German", german, "3. Mai 2026", "3. Mai 2026, 15:04 UTC"},
		{"digits", map[string]string{"date": "2006-01-02"}, "2026-05-03", "May 3, 2026 at 15:04 UTC"},
		{"months missing", map[string]string{"months": "eins zwei"}, "May 3, 2026", "May 3, 2026 at 15:04 UTC"},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := ui.Locale{Texts: c.texts}
			if got := l.Date(at); got != c.day {
				t.Errorf("Date: %q, want %q", got, c.day)
			}
			if got := l.Moment(at); got != c.time {
				t.Errorf("Moment: %q, want %q", got, c.time)
			}
		})
	}
}

func TestLocaleValidate(t *testing.T) {
	for _, c := range []struct {
		name   string
		locale ui.Locale
		want   string
	}{
		{"English", ui.Locale{}, ""},
		{"direction", ui.Locale{Tag: "ar", Dir: "up"}, `locale "ar": dir "up" is unknown: use ltr or rtl`},
		{"two places", ui.Locale{Tag: "de", Texts: map[string]string{"a": "%s %s"}},
			`locale "de": text "a" has %s more than once`},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := strings.Join(c.locale.Validate(), "; "); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
		})
	}
}

// The texts in the script are equal to the English texts.
func TestScriptTexts(t *testing.T) {
	texts := ownTexts(t)
	for _, key := range []string{"waiting", "cancelled", "failed", "unsupported"} {
		if english := texts["passkey."+key]; !strings.Contains(string(ui.Script()), key+`: "`+english+`"`) {
			t.Errorf("the script does not say %q", english)
		}
	}
	if got := (ui.Locale{}).ScriptTexts(); got != "" {
		t.Errorf("in English: %s", got)
	}
	l := ui.Locale{Texts: map[string]string{"passkey.failed": "Das hat nicht geklappt."}}
	want := `"failed":"Das hat nicht geklappt."`
	if got := l.ScriptTexts(); !strings.Contains(got, want) || !strings.Contains(got, `"waiting":"Waiting`) {
		t.Errorf("got %s", got)
	}
	page := render(t, ui.SignInPage(signIn(ui.Page{Locale: l}, passkey)))
	if !strings.Contains(page, "data-passkey-texts=") {
		t.Error("the form does not have them")
	}
}
