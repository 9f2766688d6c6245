package main

import (
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
)

// said runs the command and returns its output.
func said(t *testing.T, env map[string]string, args ...string) (string, error) {
	t.Helper()
	var out strings.Builder
	var environ []string
	for name, value := range env {
		environ = append(environ, name+"="+value)
	}
	err := run(t.Context(), args, &out, environ)
	return out.String(), err
}

func TestSecret(t *testing.T) {
	first, err := said(t, nil, "secret")
	if err != nil {
		t.Fatal(err)
	}
	raw, err := base64.StdEncoding.DecodeString(strings.TrimSpace(first))
	if err != nil || len(raw) != 33 {
		t.Errorf("%d bytes, %v", len(raw), err)
	}
	if second, err := said(t, nil, "secret"); err != nil || second == first {
		t.Errorf("the same secret twice, or %v", err)
	}
}

func TestProviders(t *testing.T) {
	for _, row := range []struct {
		name, id string
		env      map[string]string
		want     []string
	}{
		{"OAuth 2", "github", nil, []string{
			"http://localhost:3000/auth/callback/github", "AUTH_GITHUB_ID=…", "AUTH_GITHUB_SECRET=…", " providers.GitHub()",
		}},
		{"a public address", "google", map[string]string{"AUTH_URL": "https://app.example/"}, []string{
			"https://app.example/auth/callback/google", "AUTH_GOOGLE_ID=…", " providers.Google()",
		}},
		{"an address with a base path", "google", map[string]string{"AUTH_URL": "https://app.example/app/auth"}, []string{
			"https://app.example/app/auth/callback/google",
		}},
		{"an issuer", "keycloak", nil, []string{"AUTH_KEYCLOAK_ISSUER=…", " providers.Keycloak()"}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got, err := said(t, row.env, "provider", "add", row.id)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range row.want {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
		})
	}
	if got, err := said(t, nil, "provider", "list"); err != nil || strings.Count(got, "\n") < 90 {
		t.Errorf("%d providers, %v", strings.Count(got, "\n"), err)
	}
	if _, err := said(t, map[string]string{"AUTH_URL": "app.example"}, "provider", "add", "github"); err == nil {
		t.Error("an AUTH_URL without a scheme was taken")
	}
	if _, err := said(t, nil, "provider", "add", "gihtub"); err == nil || !strings.Contains(err.Error(), "provider list") {
		t.Errorf("a misspelt provider: %v", err)
	}
	if _, err := said(t, nil, "provider", "add", "gitlub"); err == nil || !strings.Contains(err.Error(), "did you mean") {
		t.Errorf("a misspelt provider: %v", err)
	}
}

func TestUsage(t *testing.T) {
	if got, err := said(t, nil); err != nil || got != usage {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := said(t, nil, "new"); err != nil || strings.Count(got, "\n  latchkey new ") != len(routers) {
		t.Errorf("the routers are %q, %v", got, err)
	}
	if got, err := said(t, nil, "version"); err != nil || !strings.Contains(got, "built from a clone") {
		t.Errorf("version %q, %v", got, err)
	}
	for _, args := range [][]string{{"nothing"}, {"new", "gin"}, {"provider"}, {"secret", "x"}} {
		if _, err := said(t, nil, args...); err == nil || !strings.Contains(err.Error(), "latchkey new") {
			t.Errorf("%v: %v", args, err)
		}
	}
}

// TestNewKeepsWhatIsThere: the command new overwrites no file.
func TestNewKeepsWhatIsThere(t *testing.T) {
	folder := t.TempDir()
	theirs := filepath.Join(folder, "main.go")
	if err := os.WriteFile(theirs, []byte("theirs"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".env", ".gitignore"} {
		other := t.TempDir()
		if err := os.WriteFile(filepath.Join(other, name), []byte("theirs"), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := said(t, nil, "new", "gin", other); err == nil || !strings.Contains(err.Error(), name+" is there") {
			t.Errorf("got %v", err)
		}
	}
	if _, err := said(t, nil, "new", "gin", folder); err == nil || !strings.Contains(err.Error(), "choose a new folder") {
		t.Errorf("got %v", err)
	}
	list, err := os.ReadDir(folder)
	if text, _ := os.ReadFile(theirs); err != nil || len(list) != 1 || string(text) != "theirs" {
		t.Errorf("%v, %q, %v", list, text, err)
	}
	_, err = said(t, nil, "new", "martini", t.TempDir())
	if err == nil || !strings.Contains(err.Error(), "stdlib, chi, gin, echo, fiber") {
		t.Errorf("an unknown router: %v", err)
	}
}

// TestNewOutsideAClone: without a published version, the modules are those of the clone in which the program was built.
// If it is not known, there are no modules, so new creates no folder. The go.work of another project does not count as
// a clone.
func TestNewOutsideAClone(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "hello")
	t.Chdir(t.TempDir())
	if _, err := said(t, nil, "new", "chi", folder); (err == nil) != (builtIn != "") {
		t.Errorf("built in %q: %v", builtIn, err)
	}
	if work, err := os.ReadFile(filepath.Join(folder, "go.work")); builtIn != "" && (err != nil ||
		!strings.Contains(string(work), filepath.Dir(filepath.Dir(builtIn)))) {
		t.Errorf("go.work is %s, %v", work, err)
	}
	before := builtIn
	defer func() { builtIn = before }()
	builtIn = "" // as with -trimpath
	project := t.TempDir()
	if err := os.WriteFile(filepath.Join(project, "go.work"), []byte("go 1.26.0\n\nuse ./app\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Chdir(project)
	_, err := said(t, nil, "new", "stdlib", "hello")
	if err == nil || !strings.Contains(err.Error(), "go run ./cmd/latchkey new stdlib ../hello") {
		t.Errorf("%v", err)
	}
	if _, err := os.Lstat("hello"); !os.IsNotExist(err) {
		t.Errorf("a folder: %v", err)
	}
}

// TestNewOfAVersion: the starter of an installed program requires the modules of the program's version.
func TestNewOfAVersion(t *testing.T) {
	t.Chdir(t.TempDir())
	var out strings.Builder
	if err := begin(&out, "stdlib", "hello", "v0.1.0"); err != nil || !strings.Contains(out.String(),
		"  cd hello\n  go mod tidy\n") {
		t.Errorf("%s, %v", &out, err)
	}
	gomod, err := os.ReadFile("hello/go.mod")
	if err != nil || !strings.Contains(string(gomod), "core v0.1.0") {
		t.Errorf("%s, %v", gomod, err)
	}
	if _, err := os.Lstat("hello/go.work"); !os.IsNotExist(err) {
		t.Errorf("a go.work: %v", err)
	}
}

// TestPublished: the version of a build in a clone is a commit and not published.
func TestPublished(t *testing.T) {
	for _, row := range []struct {
		name   string
		module debug.Module
		want   string
	}{
		{"installed", debug.Module{Version: "v0.1.0", Sum: "h1:x"}, "v0.1.0"},
		{"installed at a commit", debug.Module{Version: "v0.0.0-20261126133114-d08862a5aaaa", Sum: "h1:x"},
			"v0.0.0-20261126133114-d08862a5aaaa"},
		{"built in a clone", debug.Module{Version: "v0.0.0-20261126133114-d08862a5aaaa"}, ""},
		{"built in a clone with changes", debug.Module{Version: "v0.0.0-20261126133114-d08862a5aaaa+dirty"}, ""},
		{"go run", debug.Module{Version: "(devel)"}, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			if got := published(row.module); got != row.want {
				t.Errorf("got %q, want %q", got, row.want)
			}
		})
	}
}

func TestModuleName(t *testing.T) {
	for folder, want := range map[string]string{
		"hello": "hello", "/a/My Site": "mysite", "/a/été": "t", "/": "app", "/a/日本": "app", "/a/-x-": "x",
	} {
		if got := module(folder); got != want {
			t.Errorf("%s: %s, want %s", folder, got, want)
		}
	}
}

// TestPageShowsTheStarters: docs/start.md links to the configuration and to the router that the tab's command creates.
// The site shows the files instead of these lines.
func TestPageShowsTheStarters(t *testing.T) {
	for _, router := range routers {
		if tabs[router].router != router {
			continue
		}
		shown := regexp.MustCompile(`(?m)^\[(.+)\]\(\.\./(.+\.go)\)$`).FindAllStringSubmatch(startPage(t, router), -1)
		if len(shown) != 2 {
			t.Fatalf("docs/start.md shows %d files for %s, want auth.go and the router", len(shown), router)
		}
		for i, file := range []string{"auth.go", router + ".go"} {
			if path := "cmd/latchkey/_starters/" + file; shown[i][1] != path || shown[i][2] != path {
				t.Errorf("docs/start.md shows for %s %q, want %s", router, shown[i], path)
			}
		}
	}
}
