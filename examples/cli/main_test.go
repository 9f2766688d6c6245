package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/oauth2"

	"github.com/latchkey-go/latchkey/examples/internal/orders"
	"github.com/latchkey-go/latchkey/examples/internal/surf"
)

// site is a server with an adjustable clock, and the home of a user.
type site struct {
	*testing.T
	url     string
	ahead   atomic.Int64
	browser *surf.Browser
}

func serve(t *testing.T) *site {
	t.Helper()
	home := t.TempDir()
	for _, name := range []string{"XDG_CONFIG_HOME", "HOME", "AppData"} { // os.UserConfigDir
		t.Setenv(name, home)
	}
	server := httptest.NewUnstartedServer(nil)
	s := &site{T: t, url: "http://" + server.Listener.Addr().String(), browser: surf.New(t)}
	app, err := orders.New(orders.Options{
		URL: s.url, Secret: "a-secret-of-more-than-thirty-two-bytes", Logger: slog.New(slog.DiscardHandler),
		Now: func() time.Time { return time.Now().Add(time.Duration(s.ahead.Load())) },
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = app.Close() })
	server.Config.Handler = app
	server.Start()
	t.Cleanup(server.Close)
	return s
}

// run runs a command and returns what it prints.
func (s *site) run(open func(string) error, args ...string) (string, error) {
	var out bytes.Buffer
	err := run(s.Context(), append([]string{"-site", s.url}, args...), &out, open)
	return out.String(), err
}

// allows is a user who lets the program sign in, in the browser that the program opens.
func (s *site) allows(address string) error {
	page := s.browser.Submit(s.browser.SignIn(address), "/auth/authorize", "decision", "allow")
	if !strings.Contains(page.Body, "go back to your terminal") {
		s.Errorf("the last page is %d %s", page.Status, page.Body)
	}
	return nil
}

// lists checks that the API accepts the stored token.
func (s *site) lists(when string) {
	s.Helper()
	out, err := s.run(nil, "list")
	if err != nil || !strings.Contains(out, "Two quiet horses") {
		s.Errorf("%s: %q, %v", when, out, err)
	}
}

// file returns the stored token.
func (s *site) file() (path string, token oauth2.Token) {
	s.Helper()
	folder, err := os.UserConfigDir()
	if err != nil {
		s.Fatal(err)
	}
	path = filepath.Join(folder, "latchkey-orders", "token.json")
	raw, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(raw, &token)
	}
	if err != nil {
		s.Fatal(err)
	}
	return path, token
}

// TestLoopback signs in with the browser of this computer, and refreshes the token until the user ends the sign-in.
func TestLoopback(t *testing.T) {
	s := serve(t)
	if _, err := s.run(nil, "list"); !errors.Is(err, errSignedOut) {
		t.Errorf("before the sign-in: %v", err)
	}
	if out, err := s.run(s.allows, "login"); err != nil || !strings.Contains(out, "You are signed in") {
		t.Fatalf("%q, %v", out, err)
	}
	path, first := s.file()
	if info, err := os.Stat(path); err != nil || info.Mode() != 0o600 {
		t.Errorf("the file has the mode %v, %v", info.Mode(), err)
	}
	s.lists("after the sign-in")

	s.ahead.Store(int64(16 * time.Minute))
	s.lists("after the server has refused the token")
	_, second := s.file()
	if second.AccessToken == first.AccessToken || second.RefreshToken == first.RefreshToken {
		t.Error("the token was not refreshed")
	}
	expired := second
	expired.Expiry = time.Now().Add(-time.Hour)
	if err := (&tokenFile{path: path}).write(&expired); err != nil {
		t.Fatal(err)
	}
	s.lists("after the token has expired")
	if _, third := s.file(); third.AccessToken == second.AccessToken {
		t.Error("the token was not refreshed again")
	}
	s.ahead.Store(0)

	page := s.browser.Submit(s.browser.Open(s.url+"/auth/apps"), "/auth/apps/end")
	if !strings.Contains(page.Body, "The app was signed out.") {
		t.Errorf("the page of the apps is %d %s", page.Status, page.Body)
	}
	if _, err := s.run(nil, "list"); !errors.Is(err, errSignedOut) {
		t.Errorf("after the end of the sign-in: %v", err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the file is still there: %v", err)
	}
	again := func(address string) error {
		s.browser.Submit(s.browser.Open(address), "/auth/authorize", "decision", "allow")
		return nil
	}
	if _, err := s.run(again, "login"); err != nil {
		t.Fatal(err)
	}
	s.lists("after the second sign-in")
	_, last := s.file()
	if _, err := s.run(nil, "logout"); err != nil {
		t.Error(err)
	}
	if _, err := s.run(nil, "logout"); !errors.Is(err, errSignedOut) {
		t.Errorf("a second logout: %v", err)
	}
	request, err := http.NewRequest(http.MethodGet, s.url+"/api/orders", nil)
	if err != nil {
		t.Fatal(err)
	}
	last.SetAuthHeader(request)
	if response, err := http.DefaultClient.Do(request); err != nil || response.StatusCode != http.StatusUnauthorized {
		t.Errorf("the token after the logout: %v, %v", response, err)
	}
}

// TestDenied does not sign in: the user denies it, or the browser returns from another page.
func TestDenied(t *testing.T) {
	s := serve(t)
	_, err := s.run(func(address string) error {
		s.browser.Submit(s.browser.SignIn(address), "/auth/authorize", "decision", "deny")
		return nil
	}, "login")
	if err == nil || !strings.Contains(err.Error(), "access_denied") {
		t.Errorf("denied: %v", err)
	}
	_, err = s.run(func(address string) error {
		at, err := url.Parse(address)
		if err != nil {
			return err
		}
		back := at.Query().Get("redirect_uri")
		if page := s.browser.Open(back + "?code=x&state=x"); page.Status != http.StatusNotFound {
			t.Errorf("another state: %d", page.Status)
		}
		s.browser.Open(back + "?code=x&iss=https://evil.example&state=" + at.Query().Get("state"))
		return nil
	}, "login")
	if err == nil || !strings.Contains(err.Error(), "not from") {
		t.Errorf("another issuer: %v", err)
	}
	if _, err := s.run(nil, "list"); !errors.Is(err, errSignedOut) {
		t.Errorf("afterwards: %v", err)
	}
}

// TestDevice signs in with the browser of another device. The program asks for the result after five seconds.
func TestDevice(t *testing.T) {
	s := serve(t)
	printed, out := io.Pipe()
	done := make(chan error, 1)
	go func() { done <- run(t.Context(), []string{"-site", s.url, "-device", "login"}, out, nil) }()
	text := make([]byte, 1000)
	n, err := printed.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	go func() { _, _ = io.Copy(io.Discard, printed) }()
	said := regexp.MustCompile(`Open (\S+) and type (\S+)`).FindStringSubmatch(string(text[:n]))
	if said == nil {
		t.Fatalf("the program prints %q", text[:n])
	}
	ask := s.browser.Submit(s.browser.SignIn(said[1]), "/auth/device", "code", said[2])
	page := s.browser.Submit(ask, "/auth/device", "decision", "allow")
	if !strings.Contains(page.Body, "signed in to Orders CLI") {
		t.Errorf("the last page is %d %s", page.Status, page.Body)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	s.lists("after the sign-in")
}

// TestManyProcesses refreshes the same token in several processes.
func TestManyProcesses(t *testing.T) {
	s := serve(t)
	if _, err := s.run(s.allows, "login"); err != nil {
		t.Fatal(err)
	}
	s.ahead.Store(int64(16 * time.Minute))
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() { s.lists("at the same time") })
	}
	all.Wait()
	s.lists("afterwards")
}

// TestStaleLock: a process that was killed does not stop the others.
func TestStaleLock(t *testing.T) {
	f := &tokenFile{path: filepath.Join(t.TempDir(), "token.json")}
	if _, err := f.lock(t.Context()); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * time.Minute)
	if err := os.Chtimes(f.path+".lock", old, old); err != nil {
		t.Fatal(err)
	}
	unlock, err := f.lock(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	unlock()
}
