package pages

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// program is a program on a page that the tests start.
type program struct {
	page  string
	about string   // text in the program's files, "" for a page with fragments, which test files insert
	with  []string // test files of the program in testdata
}

// site returns the testdata files for tests that use a browser.
func site(tests ...string) []string { return append([]string{"browser.go.txt"}, tests...) }

// programs are all programs on pages, except the ones in elsewhere.
var programs = []program{
	{"README.md", "func main()", site("main.go.txt", "readme.go.txt")},
	{"docs/index.md", "authhttp.New(", site("main.go.txt", "readme.go.txt")},
	{"docs/index.md", "authgin.New(", site("main.go.txt", "readme.go.txt")},
	{"docs/index.md", "authecho.New(", site("main.go.txt", "readme.go.txt")},
	{"docs/index.md", "authfiber.New(", site("main.go.txt", "readme.go.txt")},
	{"docs/access-tokens.md", "func service(", []string{"access_tokens.go.txt"}},
	{"docs/admin.md", "func newAdmins(", site("admin.go.txt")},
	{"docs/captcha.md", "func newAuth(", site("captcha.go.txt")},
	{"docs/api-keys.md", "", site("api_keys.go.txt")},
	{"docs/guests.md", "func newAuth(", site("guests.go.txt")},
	{"docs/accounts.md", "func newAuth(", site("passkey_signup.go.txt")},
	{"docs/pages.md", "func newAuth(", site("one_tap.go.txt")},
	{"docs/multisession.md", "func newAuth(", site("multisession.go.txt")},
	{"docs/authjs.md", "func fromV4(", []string{"authjs.go.txt"}},
	{"docs/observe.md", "func newSite(", site("observe.go.txt")},
	{"docs/passwords.md", "func main()", site("main.go.txt", "passwords.go.txt")},
	{"docs/passwords.md", "", site("password_options.go.txt")},
	{"docs/forward-auth.md", "func newAuth(", []string{"forward_auth.go.txt"}},
	{"docs/webhooks.md", "func newAuth(", []string{"webhooks.go.txt"}},
	{"docs/mcp.md", "func site(", site("mcp.go.txt")},
	{"docs/organizations.md", "func newOrganizations(", site("organizations.go.txt")},
	{"docs/openapi.md", "func newAuth(", []string{"openapi.go.txt"}},
	{"docs/moving/auth0.md", "func move(", []string{"auth0.go.txt", "site.go.txt", "failing.go.txt"}},
	{"docs/moving/authboss.md", "func move(", []string{"authboss.go.txt", "site.go.txt", "failing.go.txt"}},
	{"docs/moving/firebase.md", "func move(", []string{"firebase.go.txt", "site.go.txt", "failing.go.txt"}},
	{"docs/moving/go-pkgz.md", "func newConfig(", site("gopkgz.go.txt")},
	{"docs/moving/goth.md", "func move(", []string{"goth.go.txt", "failing.go.txt"}},
	{"docs/moving/organizations.md", "func move(", []string{"move_organizations.go.txt"}},
	{"docs/moving/sessions.md", "func adopt(", []string{"sessions.go.txt", "failing.go.txt"}},
	{"docs/recipes/account.md", "func newAuth(", site("account.go.txt")},
	{"docs/recipes/api.md", "func main()", site("main.go.txt", "service.go.txt")},
	{"docs/recipes/api.md", "func signIn(", []string{"api.go.txt"}},
	{"docs/recipes/audit.md", "func newAuth(", site("audit.go.txt")},
	{"docs/recipes/backups.md", "func main()", []string{"backups.go.txt"}},
	{"docs/recipes/cluster.md", "func keycloak(", site("cluster.go.txt", "mounted.go.txt")},
	{"docs/recipes/connect.md", "", site("connect.go.txt")},
	{"docs/recipes/datastar.md", "func site(", site("datastar.go.txt")},
	{"docs/recipes/emails.md", "", site("emails.go.txt")},
	{"docs/recipes/grpc.md", "func newServer(", site("grpc.go.txt")},
	{"docs/recipes/htmx.md", "func site(", site("htmx.go.txt")},
	{"docs/recipes/huma.md", "", site("huma.go.txt")},
	{"docs/recipes/huma.md", "func protect(", site("oapi_codegen.go.txt")},
	{"docs/recipes/password.md", "package main", site("password.go.txt")},
	{"docs/recipes/production.md", "func main()", site("main.go.txt", "production.go.txt")},
	{"docs/recipes/replicas.md", "func newAuth(", site("replicas.go.txt")},
	{"docs/recipes/roles.md", "func site(", site("roles.go.txt")},
	{"docs/recipes/routers.md", "", site("routers.go.txt")},
	{"docs/recipes/rotation.md", "func newAuth(", site("rotation.go.txt")},
	{"docs/recipes/shutdown.md", "func serve(", site("shutdown.go.txt")},
	{"docs/recipes/spa.md", "func site(", site("spa.go.txt")},
	{"docs/recipes/stores.md", "func open(", site("stores.go.txt", "mounted.go.txt")},
	{"docs/recipes/stores.md", "func TestStore(", nil},
	{"docs/recipes/templates.md", "", site("templates.go.txt")},
	{"docs/recipes/tenants.md", "func site(", site("tenants.go.txt")},
	{"docs/recipes/testing.md", "package main", nil},
	{"docs/recipes/tokens.md", "func google(", site("tokens.go.txt")},
	{"docs/recipes/websocket.md", "", site("websocket.go.txt")},
}

// elsewhere are the programs that other tests start.
var elsewhere = map[string]string{
	"docs/apps.md":  "examples/cli TestLoopback and TestDevice",
	"docs/start.md": "cmd/latchkey TestStarters",
}

// TestRecipes starts the programs of pages and requests their first page without cookies, or runs the tests that a page
// contains.
func TestRecipes(t *testing.T) {
	t.Parallel()
	byPath := map[string]page{}
	for _, p := range pages(t) {
		byPath[p.path] = p
	}
	running := make(chan struct{}, 2) // each one compiles
	for _, c := range programs {
		t.Run(filepath.Base(c.page)+" "+strings.Trim(strings.TrimPrefix(c.about, "func "), "()"), func(t *testing.T) {
			t.Parallel()
			running <- struct{}{}
			defer func() { <-running }()
			if out, err := c.run(t, blocksOf(byPath[c.page])); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}

// run runs the tests of a program with the blocks of its page. It returns their output, and an error if they fail.
func (c program) run(t *testing.T, blocks []block) (string, error) {
	t.Helper()
	dir, files := t.TempDir(), []string(nil)
	environ := append(inWorkspace(t),
		"PAGE="+filepath.Join(absolute(t, top), c.page), "DATABASE_URL="+filepath.Join(dir, "app.db"))
	write := func(text string) {
		name := filepath.Join(dir, "page"+strconv.Itoa(len(files))+"_test.go")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, name)
	}
	for _, b := range blocks {
		if b.strict && c.about != "" && strings.Contains(b.text, c.about) {
			text, more := here(t, b.text)
			environ = append(environ, more...)
			write(text)
		}
	}
	for _, name := range c.with {
		raw, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		write(withFragments(t, blocks, string(raw)))
	}
	run := exec.CommandContext(t.Context(), "go", append([]string{"test", "-vet=off", "-v"}, files...)...)
	run.Dir, run.Env = top, append(environ, variables...)
	out, err := run.CombinedOutput()
	if err == nil && !strings.Contains(string(out), "--- PASS: Test") {
		err = errors.New("no test ran")
	}
	return string(out), err
}

var inserted = regexp.MustCompile(`(?m)^\t*// page: (.*)\n`)

// withFragments replaces each line "// page: text" of a test file with the fragment of the page that contains this
// text. A first line that is commented out ("// r := chi.NewRouter()") is part of the program.
func withFragments(t *testing.T, blocks []block, test string) string {
	t.Helper()
	return inserted.ReplaceAllStringFunc(test, func(line string) string {
		about := inserted.FindStringSubmatch(line)[1]
		for _, b := range blocks {
			if !b.strict && !b.templ && strings.Contains(b.text, about) {
				return strings.Replace(located(b, b.text, 0), "\n// r := ", "\nr := ", 1)
			}
		}
		t.Fatalf("no fragment contains %q", about)
		return ""
	})
}

// variables are the programs' environment variables.
var variables = []string{
	"AUTH_SECRET=a secret for tests, 32 bytes or more", "AUTH_URL=",
	"APP_SECRET=another secret for tests, 32 bytes or more",
	"AUTH_GITHUB_ID=id", "AUTH_GITHUB_SECRET=secret", "AUTH_GOOGLE_ID=id", "AUTH_GOOGLE_SECRET=secret",
	"EMAIL_SERVER=smtp://localhost:25", "EMAIL_FROM=no-reply@localhost",
}

var (
	listens  = regexp.MustCompile(`"(localhost|127\.0\.0\.1|):(3000|4000|9464)"`)
	postgres = `"` + house + `storage/postgres"`
)

// here adapts a program to a test. It uses a free port, which $PORT_3000 contains for port 3000, and SQLite instead of
// PostgreSQL, because both packages have the same functions.
func here(t *testing.T, text string) (changed string, environ []string) {
	t.Helper()
	text = strings.Replace(text, postgres, `postgres "`+house+`storage/sqlite"`, 1)
	return listens.ReplaceAllStringFunc(text, func(address string) string {
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer listener.Close()
		_, port, _ := net.SplitHostPort(listener.Addr().String())
		m := listens.FindStringSubmatch(address)
		environ = append(environ, "PORT_"+m[2]+"="+port)
		return `"` + m[1] + ":" + port + `"`
	}), environ
}

func absolute(t *testing.T, path string) string {
	t.Helper()
	path, err := filepath.Abs(path)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// TestEveryProgramIsStarted: a new program on a page needs a test that starts it.
func TestEveryProgramIsStarted(t *testing.T) {
	t.Parallel()
	for _, p := range pages(t) {
		for _, b := range blocksOf(p) {
			if b.strict && !b.templ && !started(b) {
				t.Errorf("the program at %s is not started by a test: add it to programs", b.at())
			}
		}
	}
}

// TestEveryRecipeIsStarted: a new recipe needs a test that performs its main action.
func TestEveryRecipeIsStarted(t *testing.T) {
	t.Parallel()
	tested := map[string]bool{
		"docs/recipes/README.md": true, // a list of the others
		"docs/recipes/deploy.md": true, // TestDeploy
	}
	for _, c := range programs {
		tested[c.page] = true
	}
	for _, p := range pages(t) {
		if strings.HasPrefix(p.path, "docs/recipes/") && !tested[p.path] {
			t.Errorf("no test starts the recipe %s: add it to programs", p.path)
		}
	}
}

func started(b block) bool {
	for prefix := range elsewhere {
		if strings.HasPrefix(b.page, prefix) {
			return true
		}
	}
	for _, c := range programs {
		if c.page == b.page && c.about != "" && strings.Contains(b.text, c.about) {
			return true
		}
	}
	return false
}

// TestEveryProgramIsOnAPage: each file of docs/programs belongs to a page.
func TestEveryProgramIsOnAPage(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join(top, "docs/programs/*.go"))
	if err != nil || len(files) < 20 {
		t.Fatalf("%d programs, %v", len(files), err)
	}
	shown := map[string]bool{}
	for _, p := range pages(t) {
		for _, b := range blocksOf(p) {
			shown[b.file] = true
		}
	}
	for _, file := range files {
		if name := "docs/programs/" + filepath.Base(file); !shown[name] {
			t.Errorf("no page shows %s", name)
		}
	}
}
