//go:build unix

package main

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
)

const phrase = "correct horse battery staple"

// TestStarters runs the commands of docs/start.md for each router and follows its steps: sign-up, the email, the
// members' page, the administrators' page and the account page. It also runs the starter's commands and its test.
func TestStarters(t *testing.T) {
	for _, router := range routers {
		t.Run(router, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "hello")
			page := startPage(t, router)
			tab := tabs[router]
			site := typeCommands(t, strings.ReplaceAll(page, " new "+tab.router+" ", " new "+router+" "), folder)
			program := build(t, folder)
			asksDoctor(t, program)
			runsItsTest(t, folder)
			followSteps(t, page, site)
			commits(t, folder, []string{
				".gitignore", "auth.go", "develop.go", "go.mod", "main.go", "main_test.go", "page.go", "production.go", "site.go",
			})
			buildsForProduction(t, folder)
		})
	}
}

// tabs are the titles of the routers' tabs in docs/start.md, and the router in the commands there. Older versions of a
// router share the tab of the newest one.
var tabs = map[string]struct{ title, router string }{
	"stdlib": {"net/http", "stdlib"}, "chi": {"chi", "chi"}, "gin": {"gin", "gin"},
	"echo": {"echo", "echo"}, "echov4": {"echo", "echo"}, "fiber": {"fiber", "fiber"}, "fiberv2": {"fiber", "fiber"},
}

// startPage returns docs/start.md as a reader sees it after choosing a router: without the tabs of other routers.
func startPage(t *testing.T, router string) string {
	t.Helper()
	raw, err := os.ReadFile("../../docs/start.md")
	if err != nil {
		t.Fatal(err)
	}
	shown, tab := "", ""
	for line := range strings.SplitSeq(string(raw), "\n") {
		title, isTitle := strings.CutPrefix(line, "#### ")
		switch {
		case line == "<!-- tabs -->", line == "<!-- end of tabs -->":
			tab = ""
		case isTitle:
			tab = title
		case tab == "" || tab == tabs[router].title:
			shown += line + "\n"
		}
	}
	return shown
}

var (
	shellBlock = regexp.MustCompile("(?s)```sh\n(.*?)```")
	// step matches an item of the list under "Try it".
	step      = regexp.MustCompile(`(?m)^\d\. (.*(?:\n   .*)*)`)
	pageURL   = regexp.MustCompile(`http://localhost:3000(/[a-z/-]*)`)
	emailText = regexp.MustCompile("`([a-z]+@example.com)`")
	minLength = regexp.MustCompile(`at least (\d+) characters`)
)

// typeCommands runs the commands of the start page until the site responds, and returns its address. It uses this clone
// instead of a new one, and folder instead of ../hello.
func typeCommands(t *testing.T, page, folder string) (site string) {
	t.Helper()
	script := "set -ex\n"
	for _, block := range shellBlock.FindAllStringSubmatch(page, -1) {
		for line := range strings.SplitSeq(strings.TrimSpace(block[1]), "\n") {
			switch line {
			case "git clone https://github.com/latchkey-go/latchkey":
			case "cd latchkey":
				script += "cd ../..\n"
			default:
				script += strings.ReplaceAll(line, "../hello", folder) + "\n"
			}
		}
	}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "-c", script)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	return serve(t, command, slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "GOWORK=") // a reader of the page has no GOWORK
	}))
}

// followSteps does what the list of the start page says, with the addresses, the email and the length of the password
// that it names.
func followSteps(t *testing.T, page, site string) {
	t.Helper()
	steps := step.FindAllString(page, -1)
	if len(steps) != 5 {
		t.Fatalf("the start page has %d steps: change this test as well", len(steps))
	}
	urls := func(n int) (paths []string) {
		for _, m := range pageURL.FindAllStringSubmatch(steps[n-1], -1) {
			paths = append(paths, m[1])
		}
		return paths
	}
	v := visit(t, site)
	if shown := v.get("/"); !strings.Contains(shown, "Welcome") || !strings.Contains(shown, `href="/auth/signin"`) {
		t.Errorf("/ shows %s", shown)
	}
	if v.get(urls(1)[0]); v.at != "/auth/signin" {
		t.Errorf("step 1: an unauthenticated user gets to %s", v.at)
	}
	email := emailText.FindStringSubmatch(steps[1])[1]
	length, err := strconv.Atoi(minLength.FindStringSubmatch(steps[1])[1])
	if err != nil {
		t.Fatal(err)
	}
	if v.signUp(email, phrase[:length-1]); v.status != http.StatusUnprocessableEntity {
		t.Errorf("step 2: a password of %d characters: status %d", length-1, v.status)
	}
	v.signUp(email, phrase[:length])
	v.verify(urls(3)[0], email)
	shown := v.get(urls(4)[0])
	if !strings.Contains(shown, "<h1>Members</h1>") || !strings.Contains(shown, "Signed in as "+email) {
		t.Errorf("step 4: %s shows %s", v.at, shown)
	}
	if shown := v.get(urls(4)[1]); v.status != http.StatusOK || !strings.Contains(shown, "<h1>Administration</h1>") {
		t.Errorf("step 4: %s responds to an administrator with %d: %s", v.at, v.status, shown)
	}
	if shown := v.get(urls(5)[0]); v.at != urls(5)[0] || !strings.Contains(shown, email) {
		t.Errorf("step 5: %s shows %s", v.at, shown)
	}
	other := visit(t, site)
	other.signUp("bob@example.com", phrase)
	other.verify(urls(3)[0], "bob@example.com")
	if other.get(urls(4)[1]); other.status != http.StatusForbidden {
		t.Errorf("step 4: the administrators' page responds to another user with %d", other.status)
	}
}

// commits compares the files that git would commit after the starter has run with want.
func commits(t *testing.T, folder string, want []string) {
	t.Helper()
	if _, err := os.Stat(filepath.Join(folder, "app.bolt")); err != nil {
		t.Error(err)
	}
	if err := os.Remove(filepath.Join(folder, "program")); err != nil {
		t.Error(err)
	}
	git := exec.CommandContext(t.Context(), "bash", "-c", "git init -q && git add . && git ls-files")
	git.Dir = folder
	out, err := git.CombinedOutput()
	if got := strings.Fields(string(out)); err != nil || !slices.Equal(got, want) {
		t.Errorf("git add . adds %v, not %v: %v", got, want, err)
	}
}

// buildsForProduction checks that a production build compiles, and contains no package for development.
func buildsForProduction(t *testing.T, folder string) {
	t.Helper()
	env := append(os.Environ(), "GOWORK="+filepath.Join(folder, "go.work"))
	list := exec.CommandContext(t.Context(), "go", "list", "-deps", "-tags", "nomsgpack,production", ".")
	list.Dir, list.Env = folder, env
	out, err := list.CombinedOutput()
	if err != nil || strings.Contains(string(out), "latchkey/dev/") || !strings.Contains(string(out), "providers/smtp") {
		t.Errorf("the dependencies are %s, %v", out, err)
	}
	vet := exec.CommandContext(t.Context(), "go", "vet", "-tags", "nomsgpack,production", ".")
	vet.Dir, vet.Env = folder, env
	if out, err := vet.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}

// asksDoctor runs the starter's doctor with a good secret and with one that can be guessed.
func asksDoctor(t *testing.T, program string) {
	t.Helper()
	for secret, want := range map[string]string{"Gq7mZt0wXUe1JkR5vYh2aP9sLd4fNbC8": "0 wrong", guessable: "1 wrong"} {
		command := exec.CommandContext(t.Context(), program, "doctor")
		command.Dir, command.Env = t.TempDir(), append(os.Environ(), "AUTH_SECRET="+secret)
		out, err := command.CombinedOutput()
		if !strings.Contains(string(out), want) || (err == nil) != (secret != guessable) {
			t.Errorf("%v\n%s", err, out)
		}
	}
	mistyped := exec.CommandContext(t.Context(), program, "doctr")
	mistyped.Dir, mistyped.Env = t.TempDir(), append(os.Environ(), "AUTH_SECRET="+guessable)
	if out, err := mistyped.CombinedOutput(); err == nil || !strings.Contains(string(out), "use doctor, routes") {
		t.Errorf("a command that is none: %v\n%s", err, out)
	}
	command := exec.CommandContext(t.Context(), program, "routes")
	command.Dir, command.Env = t.TempDir(), append(os.Environ(), "AUTH_SECRET="+guessable)
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), "/auth/account/") {
		t.Errorf("%v\n%s", err, out)
	}
}

// runsItsTest runs the starter's test without the application's environment variables.
func runsItsTest(t *testing.T, folder string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-v", "-tags", "nomsgpack", ".")
	command.Dir, command.Env = folder, append(os.Environ(), "GOWORK="+filepath.Join(folder, "go.work"))
	if out, err := command.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS: TestSite/") {
		t.Errorf("go test: %v\n%s", err, out)
	}
}

// guessable is a secret that core.New accepts and doctor reports.
var guessable = strings.Repeat("starter ", 6) + "."

// build copies the starter's program from the cache of the go command, which "go run ." has filled. Linking it again
// would take a second.
func build(t *testing.T, folder string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "run", "-tags", "nomsgpack", "-exec", "cp", ".", "program")
	command.Dir, command.Env = folder, append(os.Environ(), "GOWORK="+filepath.Join(folder, "go.work"))
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go run: %v\n%s", err, out)
	}
	return filepath.Join(folder, "program")
}

// serve runs a command that serves a site on $PORT until the test ends, and returns the site's address.
func serve(t *testing.T, command *exec.Cmd, environ []string) (site string) {
	t.Helper()
	port := engines.FreePort(t)
	command.Env = append(environ, "PORT="+port)
	var log bytes.Buffer
	command.Stdout, command.Stderr = &log, &log
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = command.Wait() // it returns an error, because the process was killed
		close(ended)
	}()
	t.Cleanup(func() {
		_ = command.Cancel()
		<-ended
		if t.Failed() {
			t.Log(log.String())
		}
	})
	for {
		connection, err := net.Dial("tcp", "localhost:"+port)
		if err == nil {
			_ = connection.Close()
			return "http://localhost:" + port
		}
		select {
		case <-ended:
			t.Fatalf("it ended: %s", &log)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// visitor is a browser without JavaScript.
type visitor struct {
	*testing.T
	client *http.Client
	site   string
	// at is the path of the last page, and status its status code.
	at     string
	status int
}

func visit(t *testing.T, site string) *visitor {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &visitor{T: t, client: &http.Client{Jar: jar}, site: site}
}

func (v *visitor) get(path string) string { return v.open(http.MethodGet, path, nil) }

func (v *visitor) open(method, path string, form url.Values) string {
	v.Helper()
	if !strings.HasPrefix(path, "http") {
		path = v.site + path
	}
	r, err := http.NewRequestWithContext(v.Context(), method, path, strings.NewReader(form.Encode()))
	if err != nil {
		v.Fatal(err)
	}
	r.Header.Set("Accept", "text/html")
	if form != nil {
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	answer, err := v.client.Do(r)
	if err != nil {
		v.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	page, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		v.Fatal(err)
	}
	v.at, v.status = answer.Request.URL.Path, answer.StatusCode
	return string(page)
}

var (
	forms  = regexp.MustCompile(`(?s)<form[^>]*action="([^"]*)"[^>]*>.*?</form>`)
	fields = regexp.MustCompile(`<input[^>]*name="([^"]*)"[^>]*?(?: value="([^"]*)")?[^>]*>`)
	links  = regexp.MustCompile(`href="(http[^"]*/auth/password/[^"]*)"`)
)

// submit sends the form on page whose action ends in action. filled replaces or adds values.
func (v *visitor) submit(page, action string, filled map[string]string) string {
	v.Helper()
	for _, form := range forms.FindAllStringSubmatch(page, -1) {
		if !strings.HasSuffix(form[1], action) {
			continue
		}
		values := url.Values{}
		for _, field := range fields.FindAllStringSubmatch(form[0], -1) {
			values.Set(field[1], cmp.Or(filled[field[1]], strings.ReplaceAll(field[2], "&amp;", "&")))
		}
		return v.open(http.MethodPost, form[1], values)
	}
	v.Fatalf("no form for %s on %s", action, page)
	return ""
}

// signUp submits the sign-up form.
func (v *visitor) signUp(address, password string) {
	v.Helper()
	form := v.get("/auth/password/sign-up")
	v.submit(form, "/sign-up", map[string]string{"email": address, "password": password})
}

// verify opens the newest email to an address in the mailbox, its link, and the button on the page behind the link.
func (v *visitor) verify(mailbox, address string) {
	v.Helper()
	var link []string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); { // emails are sent in the background
		mails := v.get(mailbox)
		if at := strings.Index(mails, address); at >= 0 {
			if link = links.FindStringSubmatch(mails[at:]); link != nil {
				break
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	if link == nil {
		v.Fatalf("no email for %s: %s", address, v.get(mailbox))
	}
	v.submit(v.get(strings.ReplaceAll(link[1], "&amp;", "&")), "/confirm", nil)
}
