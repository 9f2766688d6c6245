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
	"strings"
	"syscall"
	"testing"
	"time"
)

const (
	ada    = "ada@example.com"
	phrase = "correct horse battery staple"
)

// TestStarters runs the commands of each start page and follows its steps: sign-up, the email, the members' page and
// the administrators' page. It also builds the starter, and runs its commands and its test.
func TestStarters(t *testing.T) {
	for _, router := range routers {
		t.Run(router, func(t *testing.T) {
			folder := filepath.Join(t.TempDir(), "hello")
			site := typeCommands(t, "../../docs/start-"+router+".md", folder)
			program := build(t, folder)
			asksDoctor(t, program)
			runsItsTest(t, folder)
			v := visit(t, site)
			if page := v.get("/"); !strings.Contains(page, "Welcome") || !strings.Contains(page, `href="/auth/signin"`) {
				t.Errorf("/ shows %s", page)
			}
			if v.get("/members"); v.at != "/auth/signin" {
				t.Errorf("an unauthenticated user who requests /members gets to %s", v.at)
			}
			v.signUp(ada)
			if page := v.get("/members"); !strings.Contains(page, "Signed in as "+ada) {
				t.Errorf("/members shows %s", page)
			}
			if page := v.get("/admin"); v.status != http.StatusOK || !strings.Contains(page, "Administration") {
				t.Errorf("/admin answers an administrator %d: %s", v.status, page)
			}
			other := visit(t, site)
			other.signUp("bob@example.com")
			if other.get("/admin"); other.status != http.StatusForbidden {
				t.Errorf("/admin responds %d to an unauthenticated user", other.status)
			}
			commits(t, folder, []string{".gitignore", "auth.go", "go.mod", "main.go", "main_test.go", "page.go"})
		})
	}
}

// typeCommands runs the commands of a start page until the site responds, and returns its address. It uses this clone
// instead of a new one, and folder instead of ../hello.
func typeCommands(t *testing.T, page, folder string) (site string) {
	t.Helper()
	raw, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	script := "set -ex\n"
	for line := range strings.SplitSeq(string(raw), "\n") {
		command, indented := strings.CutPrefix(line, "    ")
		switch {
		case !indented:
		case command == "git clone https://github.com/latchkey-go/latchkey":
		case command == "cd latchkey":
			script += "cd ../..\n"
		default:
			script += strings.ReplaceAll(command, "../hello", folder) + "\n"
		}
	}
	command := exec.CommandContext(context.WithoutCancel(t.Context()), "bash", "-c", script)
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
	return serve(t, command, slices.DeleteFunc(os.Environ(), func(pair string) bool {
		return strings.HasPrefix(pair, "GOWORK=") // a reader of the page has no GOWORK
	}))
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

// build compiles a starter against the modules of the clone that created it.
func build(t *testing.T, folder string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "build", "-tags", "nomsgpack", "-o", "program", ".")
	command.Dir, command.Env = folder, append(os.Environ(), "GOWORK="+filepath.Join(folder, "go.work"))
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return filepath.Join(folder, "program")
}

// serve runs a command that serves a site on $PORT until the test ends, and returns the site's address.
func serve(t *testing.T, command *exec.Cmd, environ []string) (site string) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(listener.Addr().String())
	_ = listener.Close()
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

// signUp signs up as a user does: the form, the email, and the button on the page behind its link.
func (v *visitor) signUp(address string) {
	v.Helper()
	v.submit(v.get("/auth/password/sign-up"), "/sign-up", map[string]string{"email": address, "password": phrase})
	var link []string
	for end := time.Now().Add(time.Minute); time.Now().Before(end); { // emails are sent in the background
		mails := v.get("/mailbox")
		if at := strings.Index(mails, address); at >= 0 {
			if link = links.FindStringSubmatch(mails[at:]); link != nil {
				break
			}
		}
		time.Sleep(50 * time.Millisecond)
	}
	if link == nil {
		v.Fatalf("no email for %s: %s", address, v.get("/mailbox"))
	}
	v.submit(v.get(strings.ReplaceAll(link[1], "&amp;", "&")), "/confirm", nil)
}
