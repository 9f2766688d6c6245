package browser_test

import (
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
)

// buildRecipe compiles the program of a recipe, docs/programs/<name>.go, with a main function from testdata.
func buildRecipe(t *testing.T, name string) {
	t.Helper()
	dir := t.TempDir()
	args := []string{"build", "-o", filepath.Join(programs, name)}
	for i, file := range []string{
		"../../../docs/programs/" + name + ".go", "testdata/recipes/" + name + ".go.txt", "testdata/recipes/main.go.txt",
	} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		args = append(args, filepath.Join(dir, string(rune('a'+i))+".go"))
		if err := os.WriteFile(args[len(args)-1], text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	command := exec.Command("go", args...)
	command.Dir = "../../.." // for the workspace
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
}

// startRecipe runs the program of a recipe for a browser at origin, or at its own address if origin is empty.
func startRecipe(t *testing.T, name, origin, files string) (site string) {
	t.Helper()
	port := engines.FreePort(t)
	site = "http://localhost:" + port
	if origin == "" {
		origin = site
	}
	runs(t, site, name, "127.0.0.1:"+port, origin, files)
	return site
}

// scripts returns the JavaScript blocks of a page.
func scripts(t *testing.T, page string) (blocks []string) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(docsFolder, page))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range regexp.MustCompile("(?ms)^```js\n(.*?)^```$").FindAllStringSubmatch(string(raw), -1) {
		blocks = append(blocks, m[1])
	}
	return blocks
}

// save writes the files of a folder.
func save(t *testing.T, files map[string]string) (folder string) {
	t.Helper()
	folder = t.TempDir()
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// TestSinglePageRecipe runs the program and each JavaScript block of docs/recipes/spa.md.
func TestSinglePageRecipe(t *testing.T) {
	buildRecipe(t, "spa")
	blocks := scripts(t, "recipes/spa.md")
	if len(blocks) != 4 {
		t.Fatalf("%d blocks of JavaScript, this test knows 4", len(blocks))
	}
	// Each line of the first block after the import is a separate example. It becomes a function that returns the
	// session or the error.
	first, examples, _ := strings.Cut(blocks[0], "\n")
	app := first + "\nglobalThis.examples = [\n"
	for line := range strings.Lines(strings.TrimSpace(examples)) {
		app += "async (email, password) => {\n" + line + `
			return JSON.stringify([typeof session === "undefined" ? "-" : session?.user.email ?? null,
				typeof error === "undefined" ? "-" : error])
		},` + "\n"
	}
	app += "]\n" + blocks[2] + "\nglobalThis.api = api\ndocument.querySelector(\"main\").textContent = \"ready\"\n"
	const index = `<!doctype html><html lang="en"><title>App</title><link rel="icon" href="data:,"><main></main>`
	files := map[string]string{
		"index.html":    index + `<script type="module" src="/assets/app.js"></script>`,
		"assets/app.js": app,
		"assets/bundle.js": strings.Replace(blocks[1], `"./auth.js"`, `"/auth/client.js"`, 1) +
			"\nglobalThis.own = { signIn, signOut, getSession }\n",
	}
	site := startRecipe(t, "spa", "", save(t, files))

	example := func(v *visitor, n int, args string) string {
		v.becomes(`document.body.innerText === "ready"`)
		return run(v, chromedp.Evaluate[string](`examples[`+string(rune('0'+n))+`](`+args+`)`, chromedp.EvalAwaitPromise))
	}
	leave := func(v *visitor, n int) {
		v.becomes(`document.body.innerText === "ready"`)
		v.do(chromedp.Evaluate[chromedp.Void](`void setTimeout(() => { examples[` + string(rune('0'+n)) + `]() })`))
	}
	const getSession, github, withPassword, leaves = 0, 1, 2, 3
	me := `api("/api/me").then(me => me.name)`

	t.Run("password", func(t *testing.T) {
		v := visit(t, site)
		v.open("/settings")
		if got := example(v, getSession, ""); got != `[null,"-"]` {
			t.Errorf("signed out, getSession returns %s", got)
		}
		if got := example(v, withPassword, `"ada@example.com", "guess"`); got != `["-","CredentialsSignin"]` {
			t.Errorf("a wrong password: %s", got)
		}
		if got := example(v, withPassword, `"ada@example.com", "correct horse"`); got != `["-","-"]` { // no error
			t.Errorf("the right password: %s", got)
		}
		v.at("/settings")
		if got := example(v, getSession, ""); got != `["ada@example.com","-"]` {
			t.Errorf("signed in, getSession returns %s", got)
		}
		if got := run(v, chromedp.Evaluate[string](me, chromedp.EvalAwaitPromise)); got != "Ada Lovelace" {
			t.Errorf("the API knows the user as %q", got)
		}
		leave(v, leaves)
		v.arrives("/", "ready")
		if got := example(v, getSession, ""); got != `[null,"-"]` {
			t.Errorf("after signOut, getSession returns %s", got)
		}
	})
	t.Run("provider", func(t *testing.T) {
		v := visit(t, site)
		v.open("/")
		leave(v, github)
		v.arrives("/inbox", "ready")
		if got := example(v, getSession, ""); got != `["grace@example.com","-"]` {
			t.Errorf("getSession returns %s", got)
		}
	})
	t.Run("API without a session", func(t *testing.T) {
		v := visit(t, site)
		v.open("/inbox?page=2")
		v.becomes(`document.body.innerText === "ready"`)
		v.do(chromedp.Evaluate[chromedp.Void](`void api("/api/me")`))
		v.arrives("/auth/signin?callbackUrl="+url.QueryEscape("/inbox?page=2"), "GitHub")
		v.do(click(`form[action*="/auth/signin/github"] button`))
		v.arrives("/inbox?page=2", "ready")
	})
	t.Run("bundled client", func(t *testing.T) {
		v := visit(t, site)
		v.open("/")
		v.becomes(`document.body.innerText === "ready"`)
		signIn := `import("/assets/bundle.js").then(() => own.signIn("password", {email: "ada@example.com",
			password: "correct horse", redirect: false})).then(() => own.getSession()).then(s => s.data.user.name)`
		if got := run(v, chromedp.Evaluate[string](signIn, chromedp.EvalAwaitPromise)); got != "Ada Lovelace" {
			t.Errorf("signed in as %q", got)
		}
	})
	t.Run("Vite's proxy", func(t *testing.T) { behindVite(t, blocks[3]) })
}

// behindVite signs in through the development server of Vite, with the configuration of the recipe.
func behindVite(t *testing.T, config string) {
	engines.Packages(t, docsFolder)
	port := engines.FreePort(t)
	origin := "http://localhost:" + port
	site := startRecipe(t, "spa", origin, t.TempDir())
	folder := save(t, map[string]string{
		"index.html":      "<!doctype html><title>App</title>",
		"vite.config.mjs": strings.ReplaceAll(config, "http://localhost:3000", site),
	})
	program, err := filepath.Abs(filepath.Join(docsFolder, "node_modules/vite/bin/vite.js"))
	if err != nil {
		t.Fatal(err)
	}
	vite := exec.Command("node", program, "--port", port, "--strictPort", "--host", "localhost")
	vite.Dir = folder
	dieWithParent(vite)
	if err := vite.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = vite.Process.Kill()
		_ = vite.Wait()
	})
	v := visit(t, origin)
	for end := time.Now().Add(wait); ; time.Sleep(100 * time.Millisecond) {
		response, err := http.Get(origin + "/auth/csrf")
		if err == nil {
			_ = response.Body.Close()
			break
		}
		if time.Now().After(end) {
			t.Fatal(err)
		}
	}
	v.open("/auth/signin?callbackUrl=/api/me")
	v.do(click(`form[action*="/auth/signin/github"] button`))
	v.arrives("/api/me", "Grace")
}

// TestHTMXRecipe runs the program of docs/recipes/htmx.md with htmx from npm.
func TestHTMXRecipe(t *testing.T) {
	engines.Packages(t, "clients")
	htmx, err := os.ReadFile("clients/node_modules/htmx.org/dist/htmx.min.js")
	if err != nil {
		t.Fatal(err)
	}
	buildRecipe(t, "htmx")
	v := visit(t, startRecipe(t, "htmx", "", save(t, map[string]string{"htmx.min.js": string(htmx)})))
	signIn := func() {
		t.Helper()
		v.do(click(`form[action*="/auth/signin/github"] button`))
		v.arrives("/", "Show my notes")
	}
	v.open("/")
	v.do(click(`.latchkey-signin`))
	v.becomes(`location.pathname === "/auth/signin" && document.readyState === "complete"`)
	signIn()
	const notes = `document.querySelector("#notes").innerText`
	v.becomes(notes + ` === "" && Boolean(globalThis.htmx)`)
	v.do(click(`button[hx-get]`))
	v.becomes(notes + ` === "Buy milk" && location.pathname === "/"`) // the notes, in this page

	// The session ends in another tab. The next request opens the sign-in page, not in the page but instead of it.
	other := v.tab()
	other.open("/")
	other.do(click(`.latchkey-signout`))
	other.becomes(`Boolean(document.querySelector(".latchkey-signin"))`)
	if session := strings.TrimSpace(other.json("/auth/session")); session != "null" {
		t.Errorf("after the sign-out: %s", session)
	}
	v.do(click(`button[hx-get]`))
	v.becomes(`location.pathname === "/auth/signin" && document.readyState === "complete"`)
	signIn()
	v.do(click(`button[hx-get]`))
	v.becomes(notes + ` === "Buy milk"`)
}

// TestDatastarRecipe runs the program of docs/recipes/datastar.md with Datastar. The last version in npm is
// 1.0.0-beta.11, and the program translates pages and events to the names in that version. With
// DATASTAR=/path/to/datastar.js the test uses a script of version 1, and no translation.
func TestDatastarRecipe(t *testing.T) {
	files := map[string]string{}
	if path := os.Getenv("DATASTAR"); path != "" {
		script, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files["datastar.js"] = string(script)
	} else {
		engines.Packages(t, "clients")
		bundle := exec.Command("node_modules/.bin/esbuild", "--bundle", "--format=esm", "--log-level=warning",
			"node_modules/@starfederation/datastar/dist/bundles/datastar.js")
		bundle.Dir = "clients"
		script, err := bundle.Output()
		if err != nil {
			t.Fatal(err)
		}
		files["datastar.js"], files["older"] = string(script), "yes"
	}
	buildRecipe(t, "datastar")
	v := visit(t, startRecipe(t, "datastar", "", save(t, files)))
	signIn := func() {
		t.Helper()
		v.becomes(`location.pathname === "/auth/signin" && document.readyState === "complete"`)
		v.do(click(`form[action*="/auth/signin/github"] button`))
		v.arrives("/", "Show my notes")
	}
	const notes = `document.querySelector("#notes").innerText`
	v.open("/")
	v.do(click("#show")) // without a session: the guard's event opens the sign-in page
	signIn()
	v.becomes(notes + ` === "" && document.readyState === "complete"`)
	v.do(click("#show"))
	v.becomes(notes + ` === "Buy milk" && location.pathname === "/"`)
	v.do(write(`#note`, "Call Bob"), click("#add"))
	v.becomes(notes + ` === "Buy milk\nCall Bob"`)

	// The session ends in another tab. The next action changes nothing, and opens the sign-in page.
	other := v.tab()
	other.open("/")
	other.do(click(`.latchkey-signout`))
	other.becomes(`Boolean(document.querySelector(".latchkey-signin"))`)
	v.do(click("#add"))
	signIn()
	v.becomes(notes + ` === "" && document.readyState === "complete"`)
	v.do(click("#show"))
	v.becomes(notes + ` === "Buy milk\nCall Bob"`)
}
