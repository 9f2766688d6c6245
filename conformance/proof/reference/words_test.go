package reference

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/ui/locales"
)

// saidIn returns the texts that the code defines, by key.
func saidIn(t *testing.T, folders ...string) map[string]string {
	t.Helper()
	said := map[string]string{}
	for _, folder := range folders {
		files, err := filepath.Glob(filepath.Join("..", "..", "..", folder, "*.go"))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files (%v)", folder, len(files), err)
		}
		for _, name := range files {
			if !strings.HasSuffix(name, "_test.go") {
				addTexts(t, name, said)
			}
		}
	}
	return said
}

func addTexts(t *testing.T, name string, said map[string]string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.CompositeLit); ok && len(literal.Elts) == 2 {
			if key, english := textOf(literal, "Key"), textOf(literal, "English"); key != "" && english != "" {
				said[key] = english
			}
		}
		return true
	})
}

// textOf returns a field of a composite literal if it is a constant text.
func textOf(literal *ast.CompositeLit, field string) string {
	for _, e := range literal.Elts {
		if pair, ok := e.(*ast.KeyValueExpr); ok {
			if name, ok := pair.Key.(*ast.Ident); ok && name.Name == field {
				return joined(pair.Value)
			}
		}
	}
	return ""
}

func joined(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, _ := strconv.Unquote(e.Value)
		return text
	case *ast.BinaryExpr:
		if left, right := joined(e.X), joined(e.Y); left != "" && right != "" {
			return left + right
		}
	}
	return ""
}

// TestEveryTextInEveryLanguage compares the texts in the code with those of each language, in both directions.
func TestEveryTextInEveryLanguage(t *testing.T) {
	said := saidIn(t, "ui", "core", "providers", "providers/password", "providers/webauthn", "plugins/account",
		"plugins/secondfactor", "plugins/admin", "plugins/apikey", "plugins/guest", "plugins/organization", "plugins/tokens",
		"plugins/multisession", "plugins/webhooks")
	if len(said) < 150 {
		t.Fatalf("found %d texts", len(said))
	}
	for _, l := range locales.All()[1:] {
		for key, english := range said {
			words := l.Texts[key]
			if words == "" {
				t.Errorf("%s does not say %q: %s", l.Tag, key, english)
				continue
			}
			if got, want := strings.Count(words, "%s"), strings.Count(english, "%s"); got != want {
				t.Errorf("%s: %q has %d arguments, English %d", l.Tag, key, got, want)
			}
		}
		for key := range l.Texts {
			family, _, _ := strings.Cut(key, ".")
			switch family {
			case "label", "provider", "status", "email": // their keys are built from data
			default:
				if said[key] == "" {
					t.Errorf("%s says %q, which the code does not", l.Tag, key)
				}
			}
		}
	}
}
