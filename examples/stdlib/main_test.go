package main

import (
	"bufio"
	"bytes"
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
	"strings"
	"testing"
)

// TestFirstMinute follows the instructions of the README and of the program, with each of the two databases.
func TestFirstMinute(t *testing.T) {
	for _, tag := range []string{"bbolt", "sqlite"} {
		t.Run(tag, func(t *testing.T) {
			program := filepath.Join(t.TempDir(), "example")
			build := exec.CommandContext(t.Context(), "go", "build", "-tags", tag+",nomsgpack", "-o", program, ".")
			if out, err := build.CombinedOutput(); err != nil {
				t.Fatalf("go build: %v\n%s", err, out)
			}
			folder := filepath.Join(t.TempDir(), "data")
			addr := "127.0.0.1:" + freePort(t)
			welcome := start(t, program, addr, folder)

			taken := exec.CommandContext(t.Context(), program, "-addr", addr, "-data", folder)
			if out, err := taken.CombinedOutput(); err == nil || !bytes.Contains(out, []byte("-addr localhost:3001")) {
				t.Errorf("a second start: %v, %s", err, out)
			}

			links := regexp.MustCompile(`http://[a-z0-9:./]+`).FindAllString(welcome, -1)
			if len(links) < 3 {
				t.Fatalf("the program prints %q", welcome)
			}
			for _, link := range links {
				curl(t, link)
			}
			curl(t, links[0]+"/auth/signin")
			signIn(t, links[0], welcome)
		})
	}
}

// start runs the program until the test ends, and returns what it prints up to the last sign-in method.
func start(t *testing.T, program, addr, folder string) (welcome string) {
	t.Helper()
	run := exec.CommandContext(context.WithoutCancel(t.Context()), program, "-addr", addr, "-data", folder)
	var log bytes.Buffer
	run.Stderr = &log
	out, err := run.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	t.Cleanup(func() {
		_ = run.Process.Signal(os.Interrupt)
		for lines.Scan() {
			continue
		}
		if err := run.Wait(); err != nil {
			t.Errorf("the program did not end well: %v\n%s", err, log.String())
		}
	})
	for lines.Scan() {
		welcome += lines.Text() + "\n"
		if strings.Contains(lines.Text(), "Email  ") {
			return welcome
		}
	}
	t.Fatalf("it ended after %q", welcome)
	return ""
}

// curl sends a request like curl, which accepts anything.
func curl(t *testing.T, link string) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, link, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "*/*")
	r.Header.Set("User-Agent", "curl/8.14.1")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		t.Errorf("%s answers %s", link, answer.Status)
	}
}

// signIn signs in with the password that the program prints.
func signIn(t *testing.T, site, welcome string) {
	t.Helper()
	said := regexp.MustCompile(`(\S+@\S+) / (\w+)`).FindStringSubmatch(welcome)
	if said == nil {
		t.Fatalf("no password in %q", welcome)
	}
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Jar: jar}
	token := regexp.MustCompile(`name="csrfToken" value="([^"]+)"`).FindStringSubmatch(get(t, client, site+"/auth/signin"))
	if token == nil {
		t.Fatal("the sign-in page has no csrfToken")
	}
	answer, err := client.PostForm(site+"/auth/callback/password",
		url.Values{"csrfToken": {token[1]}, "email": {said[1]}, "password": {said[2]}})
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if page := get(t, client, site+"/account"); !strings.Contains(page, said[1]) {
		t.Errorf("not signed in as %s: %s", said[1], page)
	}
}

func get(t *testing.T, client *http.Client, link string) string {
	t.Helper()
	answer, err := client.Get(link)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	page, err := io.ReadAll(io.LimitReader(answer.Body, 1<<20))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

func freePort(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close() }()
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	return port
}
