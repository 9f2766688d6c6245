package reference

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// plugins are the packages whose New assigns the defaults of Options: o.TTL = 5 * time.Minute.
var plugins = []string{
	"plugins/account", "plugins/accesstoken", "plugins/accesstoken/verify", "plugins/admin", "plugins/apikey",
	"plugins/guest", "plugins/onetap",
	"plugins/organization", "plugins/secondfactor", "plugins/tokens", "plugins/webhooks",
}

// value is a default: a number, a duration or a text.
type value struct {
	number   int64
	duration bool
	text     string
}

// says reports whether a comment states the value as the default.
func (v value) says(comment string) bool {
	forms := []string{strconv.Quote(v.text), "[" + v.text + "]"} // a text, or a constant with this name
	if v.text == "" {
		forms = []string{strconv.FormatInt(v.number, 10)}
	}
	if v.duration {
		forms = nil
		for unit, length := range map[string]time.Duration{
			"second": time.Second, "minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour,
		} {
			if v.number%int64(length) == 0 {
				forms = append(forms, fmt.Sprintf("%d %ss", v.number/int64(length), unit))
			}
		}
	}
	return slices.ContainsFunc(forms, func(form string) bool {
		return regexp.MustCompile(`default is ` + regexp.QuoteMeta(form) + `\b|default is ` + regexp.QuoteMeta(form) + `\.`).
			MatchString(comment)
	})
}

// evaluate returns the value of an expression of literals, constants of the package, units of package time and
// products. Of max, the first argument counts, and of cmp.Or the last one.
func evaluate(e ast.Expr, constants map[string]ast.Expr) (value, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind == token.STRING {
			text, err := strconv.Unquote(e.Value)
			return value{text: text}, err == nil
		}
		n, err := strconv.ParseInt(e.Value, 0, 64)
		return value{number: n}, err == nil
	case *ast.Ident:
		named, ok := constants[e.Name]
		if !ok {
			return value{}, false
		}
		return evaluate(named, constants)
	case *ast.SelectorExpr:
		n, ok := map[string]time.Duration{
			"Second": time.Second, "Minute": time.Minute, "Hour": time.Hour,
		}[e.Sel.Name]
		return value{number: int64(n), duration: true}, ok
	case *ast.BinaryExpr:
		x, okX := evaluate(e.X, constants)
		y, okY := evaluate(e.Y, constants)
		return value{number: x.number * y.number, duration: x.duration || y.duration}, okX && okY && e.Op == token.MUL
	case *ast.CallExpr:
		if f, ok := e.Fun.(*ast.Ident); ok && f.Name == "max" {
			return evaluate(e.Args[0], constants)
		}
		if f, ok := e.Fun.(*ast.SelectorExpr); ok && f.Sel.Name == "Or" { // cmp.Or(o.TTL, 5*time.Minute)
			return evaluate(e.Args[len(e.Args)-1], constants)
		}
	}
	return value{}, false
}

// defaultsOf returns the values that a package assigns to the fields of its options, as o.Field = value.
func defaultsOf(t *testing.T, dir string) map[string]value {
	t.Helper()
	constants, assigned := map[string]ast.Expr{}, map[string]ast.Expr{}
	names, err := filepath.Glob(filepath.Join(top, dir, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.ValueSpec:
				for i := range n.Values {
					constants[n.Names[i].Name] = n.Values[i]
				}
			case *ast.AssignStmt:
				if to, ok := n.Lhs[0].(*ast.SelectorExpr); ok && len(n.Lhs) == 1 {
					if of, ok := to.X.(*ast.Ident); ok && of.Name == "o" {
						assigned[to.Sel.Name] = n.Rhs[0]
					}
				}
			}
			return true
		})
	}
	all := map[string]value{}
	for field, e := range assigned {
		if v, ok := evaluate(e, constants); ok {
			all[field] = v
		}
	}
	return all
}

// stated matches a comment that states a number or a text as the default.
var stated = regexp.MustCompile(`[Tt]he default is (\d|"[^"]*"\.)`)

// TestDefaultsOfPlugins compares the defaults in the doc comments of options with the values that New assigns.
func TestDefaultsOfPlugins(t *testing.T) {
	compared := 0
	for _, dir := range plugins {
		is := defaultsOf(t, dir)
		for name, comment := range read(t, dir).fields {
			field, ok := strings.CutPrefix(name, "Options.")
			if !ok {
				continue
			}
			v, known := is[field]
			switch {
			case known:
				compared++
				if !v.says(strings.Join(strings.Fields(comment), " ")) {
					t.Errorf("%s: the default of %s is %+v, its comment says %q", dir, field, v, comment)
				}
			case stated.MatchString(comment):
				t.Errorf("%s: the comment of %s states a default that New does not assign: %q", dir, field, comment)
			}
		}
	}
	if compared < 16 {
		t.Errorf("only %d defaults were compared", compared)
	}
}

// TestWrongDefaultsAreFound: a comment with another value, another unit, a longer number or without a default.
func TestWrongDefaultsAreFound(t *testing.T) {
	for comment, right := range map[string]bool{
		"The default is 90 days.":              true,
		"The default is 2160 hours, at most 3": true,
		"The default is 9 days.":               false,
		"The default is 90 hours.":             false,
		"The default is 90.":                   false,
		"The lifetime.":                        false,
	} {
		if (value{number: int64(90 * 24 * time.Hour), duration: true}).says(comment) != right {
			t.Errorf("%q counts as right: %v", comment, !right)
		}
	}
	for comment, right := range map[string]bool{"The default is 20.": true, "The default is 200.": false} {
		if (value{number: 20}).says(comment) != right {
			t.Errorf("%q counts as right: %v", comment, !right)
		}
	}
	if !(value{text: "lk"}).says(`The default is "lk".`) || (value{text: "lk"}).says(`The default is "l".`) {
		t.Error("texts are not compared")
	}
}
