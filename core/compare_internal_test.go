package core

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"strings"
	"testing"
)

// guessableName matches names of texts that an attacker could guess character by character from the duration of a
// comparison.
var guessableName = regexp.MustCompile(
	`(?i)^(sent|.*(token|hash|hashed|state|nonce|verifier|secret|digest|signature|mac|sum))$`)

// TestSecretsAreComparedInConstantTime reads the package's own code and rejects == between two texts if one has such a
// name. No other test could detect it, because a comparison that ends early has the same result.
func TestSecretsAreComparedInConstantTime(t *testing.T) {
	t.Parallel()
	set := token.NewFileSet()
	files, err := fs.Glob(os.DirFS("."), "*.go")
	if err != nil || len(files) < 50 {
		t.Fatalf("%d files, %v", len(files), err)
	}
	found := inspectComparisons(t, set, "sample", `package p; func f(sent, csrfToken string) bool { `+
		`return "x" != sent && len(sent) == 2 && string(sent[1:]) == csrfToken }`)
	if found != 1 {
		t.Fatalf("%d comparisons of the sample found, want 1", found)
	}
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		inTest := regexp.MustCompile(`_test\.go$`).MatchString(file)
		if !inTest && inspectComparisons(t, set, file, string(source)) > 0 {
			t.Errorf("%s: compare these with random.Same", file)
		}
	}
}

func inspectComparisons(t *testing.T, set *token.FileSet, name, source string) (found int) {
	file, err := parser.ParseFile(set, name, source, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if b, ok := n.(*ast.BinaryExpr); ok && (b.Op == token.EQL || b.Op == token.NEQ) {
			x, y := textName(b.X), textName(b.Y)
			typed := strings.HasPrefix(x, "Err") || strings.HasPrefix(y, "Err") // an error type is not a secret
			if x != "" && y != "" && !typed && (guessableName.MatchString(x) || guessableName.MatchString(y)) {
				found++
				t.Logf("%s: %s %s %s", set.Position(b.Pos()), x, b.Op, y)
			}
		}
		return true
	})
	return found
}

// textName returns the last name of an expression that may be a text. It is empty for constants and for expressions
// that only test presence.
func textName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		if e.Name != "nil" && e.Name != "true" && e.Name != "false" && !strings.HasPrefix(e.Name, "Check") &&
			!strings.HasPrefix(e.Name, "Attempt") {
			return e.Name
		}
	case *ast.SelectorExpr:
		return e.Sel.Name
	case *ast.ParenExpr:
		return textName(e.X)
	case *ast.SliceExpr:
		return textName(e.X)
	case *ast.IndexExpr:
		return textName(e.X)
	case *ast.CallExpr: // conversions and functions that return a text
		if name := textName(e.Fun); name != "string" && name != "Secret" {
			return name
		}
		if len(e.Args) == 1 {
			return textName(e.Args[0])
		}
	}
	return ""
}
