package authtest_test

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/app/authtest"
	"github.com/latchkey-go/latchkey/core"
)

func TestSignIn(t *testing.T) {
	auth, err := core.New(core.Config{
		TrustHost: core.On, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
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
