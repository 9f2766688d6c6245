package authtest_test

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
	"github.com/latchkey-go/latchkey/dev/authtest"
)

func TestSignIn(t *testing.T) {
	auth, err := core.New(core.Config{
		TrustHost: core.True, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		visit := auth.Visit(r.Context(), &core.Request{
			Method: r.Method, Target: r.RequestURI, Hosts: []string{r.Host}, Scheme: "http",
			Header: r.Header,
		})
		if s, err := visit.Session(); err == nil && s != nil {
			_, _ = io.WriteString(w, "hello "+s.User.Name)
		}
	}))
	defer server.Close()
	res, err := authtest.SignIn(t, auth, server.URL, &core.User{ID: "1", Name: "Ada"}).Get(server.URL + "/")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	if body, _ := io.ReadAll(res.Body); string(body) != "hello Ada" {
		t.Errorf("got %q", body)
	}
}

// TestUnlimited sends more failed sign-ins than any limit allows.
func TestUnlimited(t *testing.T) {
	c := core.Config{
		TrustHost: core.True, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
		Callbacks: core.Callbacks{Limit: func(context.Context, core.LimitParams) (time.Duration, error) {
			return time.Hour, nil
		}},
		Limits: core.Limits{Rates: map[limit.Attempt]limit.Rates{
			limit.AttemptCredentials: {Visitor: limit.Rate{Burst: 1, Every: time.Hour}},
		}},
		CSRF: core.InsecureSkipCSRFCheck(),
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil },
		}},
	}
	for unlimited, want := range map[bool]int{true: 0, false: 100} {
		config := c
		if unlimited {
			config = authtest.Unlimited(c)
		}
		auth, err := core.New(config)
		if err != nil {
			t.Fatal(err)
		}
		waits := 0
		for range 100 {
			r := auth.Handle(t.Context(), &core.Request{
				Method: "POST", Target: "/auth/callback/credentials", Hosts: []string{"app.test"}, Scheme: "https",
				RemoteAddr: "192.0.2.1:1", Body: strings.NewReader("email=ada"),
				Header: http.Header{"Content-Type": {"application/x-www-form-urlencoded"}},
			})
			if r.Status == http.StatusTooManyRequests {
				waits++
			}
		}
		if waits != want {
			t.Errorf("unlimited %v: %d of 100 attempts had to wait", unlimited, waits)
		}
	}
}

// TestWithKey sends a key to the application, and to no other address.
func TestWithKey(t *testing.T) {
	answer := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/redirect" {
			http.Redirect(w, r, "/", http.StatusFound)
		}
		_, _ = io.WriteString(w, r.Header.Get("Authorization"))
	}
	server, other := httptest.NewServer(http.HandlerFunc(answer)), httptest.NewServer(http.HandlerFunc(answer))
	defer server.Close()
	defer other.Close()
	client := authtest.WithKey(t, server.URL, "lk_one")
	for _, row := range []struct {
		url, own, want string
		status         int
	}{
		{server.URL + "/", "", "Bearer lk_one", 200},
		{server.URL + "/", "Bearer lk_two", "Bearer lk_two", 200},
		{other.URL + "/", "", "", 200},
		{server.URL + "/redirect", "", "", 302},
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, row.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if row.own != "" {
			r.Header.Set("Authorization", row.own)
		}
		res, err := client.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(res.Body)
		_ = res.Body.Close()
		if res.StatusCode != row.status || row.status == 200 && string(body) != row.want ||
			r.Header.Get("Authorization") != row.own {
			t.Errorf("%s: %d %q", row.url, res.StatusCode, body)
		}
	}
}
