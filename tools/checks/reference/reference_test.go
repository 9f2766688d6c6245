// Package reference compares docs/reference.md with the code: every exported name must be documented, and every
// documented name must exist. Options are documented by their doc comments, which the page links to and the site shows.
package reference

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const top = "../../.."

// documented are the structs of options, by folder. With an empty prefix the names are written as in core.
var documented = []struct {
	dir, prefix string
	structs     []string
}{
	{"core", "", []string{
		"Config", "SessionConfig", "JWTConfig", "PagesConfig", "CookiesConfig", "CookieOptions", "Callbacks", "Events",
		"OAuthProvider", "EmailProvider", "CredentialsProvider", "WebAuthnProvider",
		"Limits", "Revocation",
	}},
	{"core/access", "access.", []string{"Options"}},
	{"core/passkey", "passkey.", []string{"RelyingParty"}},
	{"core/token", "token.", []string{"Options"}},
	{"ui", "", []string{"Theme", "Field", "Style", "SignInOptions", "SignOutOptions"}},
	{"providers", "providers.", []string{
		"Options", "TwitterOptions", "FusionAuthOptions", "EmailOptions", "MailgunOptions",
	}},
	{"providers/smtp", "smtp.", []string{"Options"}},
	{"providers/webauthn", "webauthn.", []string{"SignUpOptions"}},
	{"plugins/account", "account.", []string{"Options", "ProfileFields", "Invitation"}},
	{"plugins/guest", "guest.", []string{"Options"}},
	{"plugins/onetap", "onetap.", []string{"Options"}},
	{"plugins/accesstoken", "accesstoken.", []string{"Options", "Audience", "Claims"}},
	{"plugins/accesstoken/verify", "verify.", []string{"Options", "Introspection"}},
	{"adapters/mcp", "authmcp.", []string{"Options"}},
	{"plugins/secondfactor", "secondfactor.", []string{"Options"}},
	{"plugins/apikey", "apikey.", []string{"Options", "NewKey"}},
	{"plugins/admin", "admin.", []string{"Options", "Ban"}},
	{"plugins/forwardauth", "forwardauth.", []string{"Options", "Site", "Header"}},
	{"plugins/openapi", "openapi.", []string{"Options"}},
	{"plugins/organization", "organization.", []string{"Options", "Role", "NewOrganization", "NewInvitation"}},
	{"plugins/tokens", "tokens.", []string{"Options", "App"}},
	{"plugins/webhooks", "webhooks.", []string{"Options", "Config", "NewEndpoint"}},
	{"doctor", "doctor.", []string{"Options"}},
	{"observe/otel", "otel.", []string{"Options"}},
	{"providers/password", "password.", []string{"Options", "SignUpFields", "Params", "FirebaseParams", "Range"}},
}

// source contains the declarations of packages.
type source struct {
	fields    map[string]string // doc comments by name: "Config.URL"
	constants map[string]string
	typed     map[string][]string // names of constants by type
	methods   map[string]bool     // "Auth.Handle"
	texts     []string            // string literals
}

// read parses a package without its tests.
func read(t *testing.T, dir string) source {
	t.Helper()
	s := source{
		fields: map[string]string{}, constants: map[string]string{},
		typed: map[string][]string{}, methods: map[string]bool{},
	}
	files, err := filepath.Glob(filepath.Join(top, dir, "*.go"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%s: no files, %v", dir, err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeSpec:
				s.addStruct(n)
			case *ast.FuncDecl:
				s.addFunc(n)
			case *ast.ValueSpec:
				s.addConstants(n)
			case *ast.BasicLit:
				if text, err := strconv.Unquote(n.Value); err == nil && n.Kind == token.STRING {
					s.texts = append(s.texts, text)
				}
			}
			return true
		})
	}
	return s
}

func (s *source) addStruct(n *ast.TypeSpec) {
	body, ok := n.Type.(*ast.StructType)
	if !ok {
		return
	}
	comment := ""
	for _, field := range body.Fields.List {
		if text := field.Doc.Text() + field.Comment.Text(); text != "" { // else that of the field above describes it
			comment = text
		}
		for _, name := range field.Names {
			if name.IsExported() {
				s.fields[n.Name.Name+"."+name.Name] = comment
			}
		}
	}
}

func (s *source) addFunc(n *ast.FuncDecl) {
	if n.Recv == nil {
		s.methods[n.Name.Name] = true
		return
	}
	receiver := n.Recv.List[0].Type
	if star, ok := receiver.(*ast.StarExpr); ok {
		receiver = star.X
	}
	if name, ok := receiver.(*ast.Ident); ok {
		s.methods[name.Name+"."+n.Name.Name] = true
	}
}

func (s *source) addConstants(n *ast.ValueSpec) {
	kind, _ := n.Type.(*ast.Ident)
	for i, name := range n.Names {
		if kind == nil || i >= len(n.Values) {
			continue
		}
		if lit, ok := n.Values[i].(*ast.BasicLit); ok {
			value, _ := strconv.Unquote(lit.Value)
			s.constants[name.Name] = value
			s.typed[kind.Name] = append(s.typed[kind.Name], name.Name)
		}
	}
}

func page(t *testing.T) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(top, "docs/reference.md"))
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}

// rows are the structs of options that have a table on the page, because a test compares its cells.
var rows = []string{"PagesConfig", "CookiesConfig"}

// TestOptions: the page links to each struct of options, or has a row for each of its fields. The doc comment of a
// field mentions its name.
func TestOptions(t *testing.T) {
	text := page(t)
	known, options := map[string]bool{}, 0
	for _, d := range documented {
		s := read(t, d.dir)
		for _, name := range d.structs {
			link := "[Options of `" + cmp.Or(d.prefix, path.Base(d.dir)+".") + name + "`](../" + d.dir + ")"
			if !slices.Contains(rows, name) && !strings.Contains(text, link) &&
				!strings.Contains(text, strings.Replace(link, "Options", "Fields", 1)) {
				t.Errorf("docs/reference.md has no line %s", link)
			}
		}
		for field, comment := range s.fields {
			owner, member, _ := strings.Cut(field, ".")
			if !slices.Contains(d.structs, owner) {
				continue
			}
			options++
			switch {
			case slices.Contains(rows, owner):
				known[field] = true
				if !strings.Contains(text, "| `"+field+"` |") {
					t.Errorf("docs/reference.md has no row for %s", field)
				}
			case !regexp.MustCompile(`\b` + member + `\b`).MatchString(comment):
				t.Errorf("no doc comment describes %s%s", d.prefix, field)
			}
		}
	}
	if options < 250 {
		t.Fatalf("only %d options were found in the code", options)
	}
	functions := read(t, "core").methods
	maps.Copy(functions, read(t, "core/store").methods)
	for _, dir := range []string{"ui", "core/access", "core/amr", "core/audit", "core/challenge", "core/limit", "core/token", "doctor"} {
		for name := range read(t, dir).methods {
			functions[path.Base(dir)+"."+name] = true
		}
	}
	for _, m := range regexp.MustCompile("(?m)^\\| `([A-Za-z.]+\\.[A-Z][A-Za-z]*)`").FindAllStringSubmatch(text, -1) {
		if name := strings.TrimPrefix(m[1], "core."); !known[m[1]] && !functions[name] {
			t.Errorf("docs/reference.md has a row for %s, which is not in the code", m[1])
		}
	}
}

// TestErrorsAndWarnings: the page links to the errors and the warnings, and each one has a doc comment.
func TestErrorsAndWarnings(t *testing.T) {
	for _, row := range []struct {
		name, file string
		least      int
	}{{"autherr.Type", "core/autherr/autherr.go", 30}, {"warnings.Code", "core/internal/warnings/warnings.go", 20}} {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(top, row.file), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		kind := row.name[strings.Index(row.name, ".")+1:]
		described := 0
		for _, d := range file.Decls {
			block, ok := d.(*ast.GenDecl)
			if !ok || block.Tok != token.CONST {
				continue
			}
			for _, spec := range block.Specs {
				spec := spec.(*ast.ValueSpec)
				if spec.Type.(*ast.Ident).Name == kind {
					described++
				}
				if !strings.HasPrefix(spec.Doc.Text(), spec.Names[0].Name) {
					t.Errorf("no doc comment describes %s", spec.Names[0].Name)
				}
			}
		}
		if !strings.Contains(page(t), "[Values of `"+row.name+"`](../"+row.file+")") {
			t.Errorf("docs/reference.md does not link to %s", row.name)
		}
		if all := len(read(t, path.Dir(row.file)).typed[kind]); all < row.least || described != all {
			t.Errorf("%s has %d of the %d constants of type %s", row.file, described, all, kind)
		}
	}
}

func TestCookies(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(top, "core/internal/cookies/set.go"))
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`[pP]refix ?\+ ?"([a-z._-]+)"`).FindAllStringSubmatch(string(source), -1)
	for _, name := range names {
		if !regexp.MustCompile("`__(Secure|Host)-authjs\\." + regexp.QuoteMeta(name[1]) + "`").MatchString(page(t)) {
			t.Errorf("docs/reference.md has no row for the cookie authjs.%s", name[1])
		}
	}
	if len(names) != 11 {
		t.Errorf("%d cookies were found in the code", len(names))
	}
}

// TestEmailKinds: the page links to the kinds of emails, and each one has a doc comment with its name.
func TestEmailKinds(t *testing.T) {
	if !strings.Contains(page(t), "[Values of `mailkind.Kind`](../core/mailkind)") {
		t.Error("docs/reference.md does not link to the kinds of emails")
	}
	name := filepath.Join(top, "core/mailkind/mailkind.go")
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	kinds, comment := 0, ""
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.ValueSpec); ok {
			kinds++
			comment = cmp.Or(spec.Doc.Text(), comment) // else that of the kind above describes it
			if !regexp.MustCompile(`\b` + spec.Names[0].Name + `\b`).MatchString(comment) {
				t.Errorf("no doc comment describes mailkind.%s", spec.Names[0].Name)
			}
		}
		return true
	})
	if kinds < 20 {
		t.Errorf("found %d kinds of emails", kinds)
	}
}

// variable matches an environment variable in a string literal, complete or up to the provider's ID.
var variable = regexp.MustCompile(`^(AUTH|EMAIL)_[A-Z0-9_]*$|^_(ID|SECRET|ISSUER|PRIVATE_KEY|PRIVATE_KEY_FILE|KEY)$`)

func TestEnvironment(t *testing.T) {
	text, found := page(t), map[string]bool{}
	for _, dir := range []string{"core", "core/internal/configcheck", "providers", "providers/smtp"} {
		for _, literal := range read(t, dir).texts {
			if variable.MatchString(literal) {
				found[literal] = true
			}
		}
	}
	if len(found) < 8 {
		t.Fatalf("only %v were found in the code", found)
	}
	for name := range found {
		switch {
		case strings.HasPrefix(name, "_"):
			name = "AUTH_<ID>" + name
		case strings.HasSuffix(name, "_"):
			continue // a prefix; its suffixes are in the list
		}
		if !strings.Contains(text, "`"+name+"`") {
			t.Errorf("docs/reference.md has no row for the variable %s", name)
		}
	}
}
