// Package comparisons checks the code that runs in applications for timing attacks. Secrets must be compared with
// random.Same, hmac.Equal or subtle.ConstantTimeCompare, and not with a comparison that ends at the first different
// byte. No other test can find this, because the result of the comparison is the same.
package comparisons

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

const top = "../../.."

// read are the folders with code that runs in applications.
var read = []string{"adapters", "cmd", "core", "internal", "plugins", "providers", "storage", "ui"}

// notRead are folders without application code, such as test kits.
var notRead = []string{"testdata", "node_modules", "kvtest", "sqltest"}

// secretName matches the names of texts that an attacker could find character by character by measuring rejected
// guesses. Values of type Secret are also checked.
var secretName = regexp.MustCompile(
	`(?i)^(sent|.*(token|hash|hashed|state|nonce|verifier|secret|digest|signature|mac|sum|csrf|password|fingerprint))$`)

// harmlessName matches names that only look like secrets.
var harmlessName = regexp.MustCompile(`^(Err|err|Check|Attempt|Kind|kind|code[A-Z]|text[A-Z]|Type).*$`)

// early matches functions that end at the first difference or whose time depends on its position.
var early = regexp.MustCompile(`^(bytes\.(Equal|EqualFold|Compare|HasPrefix|HasSuffix|Contains|Index)|` +
	`strings\.(EqualFold|Compare|HasPrefix|HasSuffix|Contains|Index)|slices\.(Equal|Compare|Contains|Index)|` +
	`cmp\.Compare|reflect\.DeepEqual|maps\.Equal)$`)

// allowed are comparisons that may end early, by file and text, with the reason. An entry without a comparison in the
// code is an error.
var allowed = map[string]string{
	"adapters/connect/client.go: again == token":                                "both are tokens of the client itself",
	"cmd/latchkey-store/factors.go: slices.Contains(n.sent, address)":           "an address of an email that was sent",
	"internal/cors/cors.go: slices.Contains(p.Trusted, sent[])":                 "an origin is no secret",
	"internal/jwe/cache.go: e.hash == hash":                                     "one 64-bit comparison of a seeded hash",
	"internal/jwe/cache.go: e.token == token":                                   "both have that hash already",
	"internal/jwe/cache.go: slot.lastHash.Swap(hash) == hash":                   "of a decrypted token",
	"internal/jwe/seal.go: token[:] == string(header)":                          "the header of a token is public",
	"plugins/tokens/device.go: d.State == stateDenied":                          "the state of a request is no secret",
	"plugins/tokens/device.go: state == stateApproved":                          "the state of a request is no secret",
	"plugins/tokens/device.go: d.State == stateApproved":                        "the state of a request is no secret",
	"plugins/tokens/device.go: d.State != statePending":                         "the state of a request is no secret",
	"plugins/tokens/device.go: found.State != statePending":                     "the state of a request is no secret",
	"plugins/tokens/device.go: found.State == stateApproved":                    "the state of a request is no secret",
	"plugins/tokens/idtoken.go: c.Field(\"subject_token_type\") != typeIDToken": "a type of tokens is no secret",
	"plugins/webhooks/announce.go: now != c.State":                              "two hashes of stored data: no client sends one",
	"plugins/tokens/idtoken.go: asked != typeAccessToken":                       "a type of tokens is no secret",
	"internal/weburl/below.go: path == sent":                                    "paths are no secrets",
	"core/email_first.go: step == stepPassword":                                 "the name of a page",
	"ui/join.go: b.index == v.withPassword()":                                   "indexes of providers",
	"ui/join.go: v.withPassword() != noIndex":                                   "indexes of providers",
	"plugins/apikey/key.go: checksum(body) != key[:]":                           "the checksum is public",
	"providers/password/links.go: r.Key == key":                                 "the keys of two records of this site",
	"providers/password/links.go: fingerprint(old) != link.Was":                 "both are from the store",
	"providers/password/verifier_systems.go: bytes.Equal(normal, password)": "two forms of the password that the client " +
		"sent",
	"providers/webauthn/exact.go: bytes.Equal(answer.Response.AuthenticatorData.RPIDHash, relyingParty[:])": "the hash " +
		"of a public domain",
	"providers/webauthn/exact.go: bytes.Equal(again, signature)":                 "two encodings of the browser's value",
	"storage/dynamodb/migrate.go: plain() == token":                              "two attributes of one item",
	"storage/sql/lookups.go: hashes[] == hash":                                   "one 64-bit comparison of a seeded hash",
	"storage/sql/records.go: maphash.String() == hash":                           "one 64-bit comparison of a seeded hash",
	"storage/sql/lookups.go: l.token == token.value":                             "both have that hash already",
	"ui/view.go: b.password() != noIndex":                                        "the index of a field",
	"ui/view.go: secret != noIndex":                                              "the index of a field",
	"storage/sql/sessions.go: strings.Compare(string(a.Token), string(b.Token))": "the order of a list",

	// A name of a sign-in method.
	"core/internal/passkeys/ceremony.go: slices.Contains(methods, amr.Password)": "the name of a method",
}

// finding is a comparison that ends early.
type finding struct {
	position token.Position
	key      string
}

// TestSecretsAreComparedInConstantTime looks at every comparison.
func TestSecretsAreComparedInConstantTime(t *testing.T) {
	set := token.NewFileSet()
	files := parse(t, set)
	if len(files) < 300 {
		t.Fatalf("%d files", len(files))
	}
	packages := map[string][]*ast.File{}
	for path, file := range files {
		packages[filepath.Dir(path)] = append(packages[filepath.Dir(path)], file)
	}
	used := map[string]bool{}
	for _, path := range slices.Sorted(maps.Keys(files)) {
		for _, f := range inspect(set, path, files[path], secrets(packages[filepath.Dir(path)])) {
			used[f.key] = true
			if allowed[f.key] == "" {
				t.Errorf("%s: %s\n\tcompare these with random.Same or crypto/subtle, or give the reason here: %q: \"\",",
					f.position, f.key, f.key)
			}
		}
	}
	for key := range allowed {
		if !used[key] {
			t.Errorf("no such comparison any more: %s", key)
		}
	}
}

// TestSample checks the rules with examples.
func TestSample(t *testing.T) {
	for _, row := range []struct {
		code  string
		found bool
	}{
		{`sent != csrfToken`, true},
		{`string(a.Hash) == b`, true},
		{`a.hash[:8] == b`, true},
		{`bytes.Equal(mac, b)`, true},
		{`strings.EqualFold(a, token)`, true},
		{`strings.HasPrefix(token, a)`, true},
		{`slices.Contains(list, a.state)`, true},
		{`a.AccessToken == b`, true},
		{`a.Letter == b`, true}, // declared as a Secret
		{`a.name == b`, false},
		{`token == ""`, false},
		{`token != nil`, false},
		{`len(token) == n`, false},
		{`random.Same(token, b)`, false},
		{`subtle.ConstantTimeCompare(mac, sum) == 1`, false},
		{`strings.HasPrefix(token, "Bearer ")`, false},
		{`err == ErrToken`, false},
	} {
		set := token.NewFileSet()
		source := "package p; type x struct { Letter core.Secret }; func f() bool { return " + row.code + " }"
		file, err := parser.ParseFile(set, "sample.go", source, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		found := inspect(set, "sample.go", file, secrets([]*ast.File{file}))
		if (len(found) == 1) != row.found {
			t.Errorf("%s: %v", row.code, found)
		}
	}
	const choice = "package p; func f() { switch token { case other: } }"
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, "sample.go", choice, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	if found := inspect(set, "sample.go", file, nil); len(found) != 1 {
		t.Errorf("a switch: %v", found)
	}
}

// parse reads the code, without tests and generated files.
func parse(t *testing.T, set *token.FileSet) map[string]*ast.File {
	t.Helper()
	files := map[string]*ast.File{}
	for _, dir := range read {
		err := filepath.WalkDir(filepath.Join(top, dir), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && slices.Contains(notRead, d.Name()):
				return fs.SkipDir
			case !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"), strings.HasSuffix(path, "_templ.go"):
				return nil
			}
			source, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			name := strings.TrimPrefix(filepath.ToSlash(path), top+"/")
			files[name], err = parser.ParseFile(set, name, source, parser.SkipObjectResolution)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return files
}

// secrets returns the names of fields, parameters and variables that a package declares as Secret.
func secrets(files []*ast.File) map[string]bool {
	typed := map[string]bool{}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			var names []*ast.Ident
			var kind ast.Expr
			switch n := n.(type) {
			case *ast.Field:
				names, kind = n.Names, n.Type
			case *ast.ValueSpec:
				names, kind = n.Names, n.Type
			}
			if kind != nil && lastName(kind) == "Secret" {
				for _, name := range names {
					typed[name.Name] = len(name.Name) > 1 && name.Name != "text" // too general a name
				}
			}
			return true
		})
	}
	return typed
}

// inspect returns the comparisons in a file.
func inspect(set *token.FileSet, path string, file *ast.File, typed map[string]bool) (found []finding) {
	secret := func(e ast.Expr) bool {
		name := lastName(e)
		return name != "" && !harmlessName.MatchString(name) && (secretName.MatchString(name) || typed[name])
	}
	add := func(n ast.Node, text string) {
		found = append(found, finding{set.Position(n.Pos()), path + ": " + text})
	}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr:
			if (n.Op == token.EQL || n.Op == token.NEQ) && compares(n.X, n.Y) && (secret(n.X) || secret(n.Y)) {
				add(n, fmt.Sprintf("%s %s %s", words(n.X), n.Op, words(n.Y)))
			}
		case *ast.SwitchStmt:
			if n.Tag == nil || !secret(n.Tag) {
				return true
			}
			for _, c := range n.Body.List {
				if slices.ContainsFunc(c.(*ast.CaseClause).List, func(e ast.Expr) bool { return compares(n.Tag, e) }) {
					add(n, "switch "+words(n.Tag))
				}
			}
		case *ast.CallExpr:
			if !early.MatchString(words(n.Fun)) || len(n.Args) != 2 || !compares(n.Args[0], n.Args[1]) {
				return true
			}
			if secret(n.Args[0]) || secret(n.Args[1]) {
				add(n, words(n.Fun)+"("+words(n.Args[0])+", "+words(n.Args[1])+")")
			}
		}
		return true
	})
	return found
}

// compares reports whether two texts are compared. Comparisons with constants and of errors do not count.
func compares(x, y ast.Expr) bool {
	for _, e := range []ast.Expr{x, y} {
		name := lastName(e)
		if name == "" || name == "nil" || name == "true" || name == "false" || harmlessName.MatchString(name) {
			return false
		}
	}
	return true
}

// lastName returns the last name of an expression that may be a text. It returns "" for constants.
func lastName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.ParenExpr:
		return lastName(e.X)
	case *ast.StarExpr:
		return lastName(e.X)
	case *ast.UnaryExpr:
		return lastName(e.X)
	case *ast.SliceExpr:
		return lastName(e.X)
	case *ast.IndexExpr:
		return lastName(e.X)
	case *ast.CallExpr:
		switch name := lastName(e.Fun); {
		case name == "len" || name == "ConstantTimeCompare":
			return "" // a number
		case len(e.Args) == 1 && (name == "string" || name == "Secret" || name == "byte"):
			return lastName(e.Args[0])
		default:
			return name
		}
	case *ast.ArrayType:
		return "byte"
	}
	return ""
}

// words returns the source of an expression without the texts in brackets.
func words(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return words(e.X) + "." + e.Sel.Name
	case *ast.ParenExpr:
		return words(e.X)
	case *ast.StarExpr:
		return "*" + words(e.X)
	case *ast.UnaryExpr:
		return e.Op.String() + words(e.X)
	case *ast.SliceExpr:
		return words(e.X) + "[:]"
	case *ast.IndexExpr:
		return words(e.X) + "[]"
	case *ast.CallExpr:
		if len(e.Args) == 1 {
			return words(e.Fun) + "(" + words(e.Args[0]) + ")"
		}
		return words(e.Fun) + "()"
	case *ast.BasicLit:
		return e.Value
	}
	return "…"
}
