package pages

import (
	"bytes"
	"cmp"
	"debug/elf"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDeploy follows docs/recipes/deploy.md on this machine: it runs the build commands of the Dockerfile in a copy of
// an application, lets systemd verify the unit, starts the binary with the environment of the unit, signs in, and stops
// it as systemd and Docker do.
func TestDeploy(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(cmp.Or(os.Getenv("DEPLOY_PAGE"), filepath.Join(top, "docs/recipes/deploy.md")))
	if err != nil {
		t.Fatal(err)
	}
	page := string(raw)
	binary := buildAsDocker(t, fenced(t, page, "dockerfile"))
	unit := fenced(t, page, "ini")
	verifyUnit(t, unit, binary)

	port := freePort(t)
	environment := filepath.Join(t.TempDir(), "environment") // EnvironmentFile of the unit
	variables := map[string]string{
		"PORT": port, "DATABASE_URL": filepath.Join(t.TempDir(), "app.db"), "AUTH_URL": "https://app.example",
		"AUTH_SECRET": strings.Repeat("secret ", 6),
	}
	lines := ""
	for name, value := range variables {
		if !strings.Contains(page, "`"+name+"`") && name != "PORT" {
			t.Errorf("the page does not mention %s", name)
		}
		lines += fmt.Sprintf("%s=%q\n", name, value)
	}
	if err := os.WriteFile(environment, []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	started := exec.Command("sh", "-c", `set -a; . "$0"; exec "$1"`, environment, binary)
	started.Env = []string{} // no variable of this test, such as PATH or HOME
	var said bytes.Buffer
	started.Stdout, started.Stderr, started.Dir = &said, &said, "/"
	if err := started.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- started.Wait() }()
	t.Cleanup(func() { _ = started.Process.Kill() })

	site := "http://localhost:" + port
	health := regexp.MustCompile(`(?m)(?:^    path = "|healthCheckPath: )(/[a-z]+)`)
	for _, m := range health.FindAllStringSubmatch(page, -1) {
		waitFor(t, site+m[1], ended, &said)
	}
	signsIn(t, site)

	if err := started.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	limit := regexp.MustCompile(`TimeoutStopSec=(\d+)`).FindStringSubmatch(unit)
	stop, err := time.ParseDuration(limit[1] + "s")
	if err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if err != nil {
			t.Errorf("after SIGTERM: %v\n%s", err, &said)
		}
	case <-time.After(stop):
		t.Errorf("it still runs %s after SIGTERM", stop)
	}
}

// fenced returns the only block of a page in a language.
func fenced(t *testing.T, page, language string) string {
	t.Helper()
	found := regexp.MustCompile("(?ms)^```"+language+"\n(.*?)^```$").FindAllStringSubmatch(page, -1)
	if len(found) != 1 {
		t.Fatalf("%d blocks of %s", len(found), language)
	}
	return found[0][1]
}

// buildAsDocker copies an application to a folder, runs the RUN lines of the first stage there, and returns the binary
// that the second stage starts. Until a version is published, it uses the modules of this repository: see the page.
func buildAsDocker(t *testing.T, dockerfile string) (binary string) {
	t.Helper()
	source, image := t.TempDir(), t.TempDir()
	program, err := os.ReadFile("testdata/deploy.go.txt")
	if err != nil {
		t.Fatal(err)
	}
	workspace, err := os.ReadFile(filepath.Join(top, "go.work"))
	if err != nil {
		t.Fatal(err)
	}
	use := strings.ReplaceAll(string(workspace), "\t./", "\t"+absolute(t, top)+"/") + "\nuse .\n"
	sums, err := os.ReadFile(filepath.Join(top, "go.work.sum"))
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"main.go": string(program), "go.mod": "module app\n\ngo 1.26\n", "go.work": use, "go.work.sum": string(sums),
	} {
		if err := os.WriteFile(filepath.Join(source, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first, second, _ := strings.Cut(dockerfile, "\n\n")
	runs := regexp.MustCompile(`(?m)^RUN (.*)$`).FindAllStringSubmatch(first, -1)
	out := regexp.MustCompile(`-o (/\S+)`).FindStringSubmatch(first)
	if len(runs) == 0 || out == nil {
		t.Fatalf("the first stage builds nothing:\n%s", first)
	}
	for _, m := range runs {
		run := exec.CommandContext(t.Context(), "sh", "-c", strings.ReplaceAll(m[1], out[1], image+out[1]))
		run.Dir, run.Env = source, append(os.Environ(), "GOWORK="+filepath.Join(source, "go.work"))
		if said, err := run.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", m[1], err, said)
		}
	}
	if want := "COPY --from=build " + out[1] + " " + out[1] + "\n"; !strings.Contains(second, want) {
		t.Errorf("the second stage does not have %s", want)
	}
	if want := `ENTRYPOINT ["` + out[1] + `"]`; !strings.Contains(second, want) {
		t.Errorf("the second stage does not have %s", want)
	}
	binary = image + out[1]
	file, err := elf.Open(binary)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if libraries, err := file.ImportedLibraries(); len(libraries) > 0 || file.Section(".interp") != nil {
		t.Errorf("the binary is not static: %v, %v", libraries, err) // the image has no C library
	}
	return binary
}

// verifyUnit lets systemd check the unit, with the binary in the place of the installed one.
func verifyUnit(t *testing.T, unit, binary string) {
	t.Helper()
	program, err := exec.LookPath("systemd-analyze")
	if err != nil {
		t.Fatal("systemd-analyze is missing: apt-get install -y --no-install-recommends systemd")
	}
	file := filepath.Join(t.TempDir(), "app.service")
	installed := strings.Replace(unit, "ExecStart=/usr/local/bin/app", "ExecStart="+binary, 1)
	if installed == unit {
		t.Fatal("the unit has no ExecStart=/usr/local/bin/app")
	}
	if err := os.WriteFile(file, []byte(installed), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := exec.CommandContext(t.Context(), program, "verify", "--man=no", file).CombinedOutput()
	for line := range strings.Lines(string(said)) {
		if strings.Contains(line, "app.service") { // other lines are about units of this machine
			t.Errorf("systemd-analyze: %s", line)
		}
	}
	if err != nil {
		t.Errorf("systemd-analyze: %v\n%s", err, said)
	}
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}

// waitFor waits until a URL has status 200.
func waitFor(t *testing.T, address string, ended <-chan error, said *bytes.Buffer) {
	t.Helper()
	for end := time.Now().Add(time.Minute); ; time.Sleep(50 * time.Millisecond) {
		response, err := http.Get(address)
		if err == nil {
			_ = response.Body.Close()
			if response.StatusCode == http.StatusOK {
				return
			}
		}
		select {
		case err := <-ended:
			t.Fatalf("the program ended: %v\n%s", err, said)
		default:
		}
		if time.Now().After(end) {
			t.Fatalf("%s: %v", address, err)
		}
	}
}

// signsIn signs in with a password, as a browser behind the proxy that terminates TLS.
func signsIn(t *testing.T, site string) {
	t.Helper()
	cookies := map[string]string{} // by name, because a client without TLS keeps no Secure cookie
	ask := func(method, path string, form url.Values) (body []byte) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, site+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		r.Header.Set("X-Auth-Return-Redirect", "1")
		for name, value := range cookies {
			r.Header.Add("Cookie", name+"="+value)
		}
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		for _, c := range response.Cookies() {
			if !c.Secure {
				t.Errorf("%s has no Secure attribute, on an https site", c.Name)
			}
			cookies[c.Name] = c.Value
		}
		if body, err = io.ReadAll(response.Body); err != nil {
			t.Fatal(err)
		}
		return body
	}
	var token struct{ CSRFToken string }
	if err := json.Unmarshal(ask(http.MethodGet, "/auth/csrf", nil), &token); err != nil {
		t.Fatal(err)
	}
	for password, want := range map[string]string{"guess": "null", "correct horse": "ada@example.com"} {
		ask(http.MethodPost, "/auth/callback/credentials", url.Values{"csrfToken": {token.CSRFToken}, "password": {password}})
		session := string(ask(http.MethodGet, "/auth/session", nil))
		if !strings.Contains(session, want) {
			t.Errorf("the session after the password %q: %s", password, session)
		}
		delete(cookies, "__Secure-authjs.session-token")
	}
}
