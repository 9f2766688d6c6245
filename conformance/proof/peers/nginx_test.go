package peers_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
)

// nginx starts nginx with default buffers in front of an application, and returns its address.
func nginx(t *testing.T, application string) string {
	t.Helper()
	address := free(t)
	startNginx(t, address, "\tserver {\n\t\tlisten "+address+";\n"+
		"\t\tlocation / {\n\t\t\tproxy_pass "+application+";\n\t\t}\n\t}\n")
	return address
}

// free returns an unused address of this machine.
func free(t *testing.T) string { t.Helper(); return "127.0.0.1:" + engines.FreePort(t) }

// startNginx starts nginx with these servers, and waits until it responds at address.
func startNginx(t *testing.T, address, servers string) {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		if program, err = exec.LookPath("/usr/sbin/nginx"); err != nil {
			engines.Absent(t, "the test needs nginx: apt-get install -y --no-install-recommends nginx-light")
		}
	}
	dir := t.TempDir()
	config := "daemon off;\nworker_processes 1;\npid " + dir + "/pid;\nerror_log " + dir + "/error.log;\n"
	if os.Geteuid() == 0 {
		config += "user root;\n" // otherwise the worker cannot enter the folder
	}
	config += "events {}\nhttp {\n\taccess_log off;\n"
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		config += "\t" + kind + "_temp_path " + dir + "/" + kind + ";\n"
	}
	config += servers + "}\n"
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program, "-p", dir, "-e", dir+"/error.log", "-c", file)
	c.Cancel = func() error { return c.Process.Signal(os.Interrupt) } // if it were killed, its workers would remain
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- c.Wait() }()
	t.Cleanup(func() {
		if err := <-ended; !errors.Is(err, context.Canceled) { // the test has ended
			t.Logf("nginx: %v", err)
		}
		if conn, err := net.DialTimeout("tcp", address, time.Second); err == nil {
			_ = conn.Close()
			t.Errorf("nginx has ended, and a worker of it still listens on %s", address)
		}
		if t.Failed() {
			log, _ := os.ReadFile(dir + "/error.log")
			t.Logf("%s", log)
		}
	})
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		conn, err := (&net.Dialer{Timeout: time.Second}).DialContext(t.Context(), "tcp", address)
		if err == nil {
			_ = conn.Close()
			return
		}
		select {
		case err := <-ended:
			ended <- err
			log, _ := os.ReadFile(dir + "/error.log")
			t.Fatalf("nginx: %v\n%s", err, log)
		case <-time.After(20 * time.Millisecond):
		}
	}
	t.Fatal("nginx takes no connections")
}

// tunnel sends requests for https://app.example to an address, like a proxy that terminates TLS. It also responds as
// the providers.
type tunnel struct{ address string }

func (n tunnel) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.Host == "app.example" {
		r = r.Clone(r.Context())
		r.Host, r.URL.Scheme, r.URL.Host = "app.example", "http", n.address
		return http.DefaultTransport.RoundTrip(r)
	}
	body := `{"access_token":"a","token_type":"bearer"}`
	if r.URL.Path == "/user" {
		body = `{"id":"1","name":"Ada","email":"ada@example.com"}`
	}
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: r,
	}, nil
}

// TestStockNginx starts several sign-ins behind an nginx with default buffers, and completes all that are still
// pending.
func TestStockNginx(t *testing.T) {
	site := newSite(t)
	all := []core.Check{core.CheckPKCE, core.CheckState, core.CheckNonce}
	for _, row := range []struct {
		name    string
		checks  []core.Check
		presses int
	}{
		{"checks left to us", nil, 4},
		{"all checks", all, 4},
		{"more than are kept", all, 7},
	} {
		t.Run(row.name, func(t *testing.T) {
			var list []core.Provider
			for _, id := range []string{"first", "second"} {
				list = append(list, &core.OAuthProvider{
					ID: id, Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
					Checks: row.checks, HTTPClient: &http.Client{Transport: tunnel{}},
					Authorization: core.Endpoint{URL: "https://" + id + ".example/authorize"},
					Token:         core.Endpoint{URL: "https://" + id + ".example/token"},
					Userinfo:      core.Endpoint{URL: "https://" + id + ".example/user"},
				})
			}
			auth, err := core.New(core.Config{
				Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.example",
				Providers: list, Getenv: func(string) string { return "" },
			})
			if err != nil {
				t.Fatal(err)
			}
			mux := http.NewServeMux()
			authhttp.New(auth).Mount(mux)
			application := httptest.NewServer(mux)
			defer application.Close()
			jar, err := cookiejar.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			client := &http.Client{
				Jar: jar, Transport: tunnel{nginx(t, application.URL)},
				CheckRedirect: stop, Timeout: time.Minute,
			}
			v := &visitor{Client: client, t: t, site: site}
			home := "https://app.example"
			page := v.get(home + "/auth/signin?callbackUrl=" + url.QueryEscape("/"+strings.Repeat("a", 600)))
			if !strings.Contains(page.body, "csrfToken") {
				t.Fatalf("no sign-in page: %s", page.body)
			}
			var csrf struct{ CSRFToken string }
			if err := json.Unmarshal([]byte(v.get(home+"/auth/csrf").body), &csrf); err != nil {
				t.Fatal(err)
			}
			var answers []string
			for i := range row.presses {
				id := []string{"first", "second"}[i%2]
				r, err := v.PostForm(home+"/auth/signin/"+id, url.Values{"csrfToken": {csrf.CSRFToken}})
				p := v.arrive(r, err)
				if r.StatusCode != http.StatusFound || !strings.HasPrefix(p.location, "https://"+id+".example/") {
					t.Fatalf("press %d: %d %s", i+1, r.StatusCode, p.body)
				}
				location, err := url.Parse(p.location)
				if err != nil {
					t.Fatal(err)
				}
				state := url.QueryEscape(location.Query().Get("state"))
				answers = append(answers, fmt.Sprintf("%s/auth/callback/%s?code=c&state=%s", home, id, state))
			}
			for i := row.presses - 1; i >= 0; i-- {
				r, err := client.Get(answers[i])
				p := v.arrive(r, err)
				failed := strings.Contains(p.location, "error=")
				if r.StatusCode != http.StatusFound || failed != (i < row.presses-4) {
					t.Errorf("answer of press %d: %d %s", i+1, r.StatusCode, p.location)
				}
				u, _ := url.Parse(home)
				jar.SetCookies(u, []*http.Cookie{{Name: "__Secure-authjs.session-token", Path: "/", Secure: true, MaxAge: -1}})
			}
		})
	}
}
