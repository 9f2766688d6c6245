package authecho_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/labstack/echo/v4/middleware"

	authecho "github.com/latchkey-go/latchkey/adapters/echo"
	"github.com/latchkey-go/latchkey/core"
)

// TestTimeoutLeavesNoCookieAstray: a handler that outlives echo's timeout ends when its context is another visitor's.
func TestTimeoutLeavesNoCookieAstray(t *testing.T) {
	a, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-32-bytes-for-tests"}, URL: "http://app.test", Getenv: func(string) string { return "" },
		Providers: []core.Provider{&core.CredentialsProvider{Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) { return nil, nil }}},
		Session:   core.SessionConfig{UpdateAge: core.Always},
	})
	if err != nil {
		t.Fatal(err)
	}
	cookies, err := a.NewSession(t.Context(), &core.Request{Method: "GET", Target: "/", Hosts: []string{"app.test"}, Scheme: "http", Header: http.Header{}}, &core.User{ID: "victim"})
	if err != nil {
		t.Fatal(err)
	}
	e := echo.New()
	ad := authecho.New(a)
	hook := ad.Hook()
	e.GET("/slow", func(c echo.Context) error {
		_, _ = authecho.Session(c)
		time.Sleep(35 * time.Millisecond)
		return nil
	}, middleware.TimeoutWithConfig(middleware.TimeoutConfig{Timeout: 20 * time.Millisecond}), hook)
	e.GET("/page", func(c echo.Context) error { time.Sleep(40 * time.Millisecond); return c.String(200, "page") })
	s := httptest.NewServer(e)
	defer s.Close()
	var all sync.WaitGroup
	var mu sync.Mutex
	astray := 0
	for range 4 {
		all.Go(func() {
			for range 15 {
				r, _ := http.NewRequest("GET", s.URL+"/slow", nil)
				r.Header.Set("Cookie", cookies[0].Name+"="+cookies[0].Value)
				if res, err := http.DefaultClient.Do(r); err == nil {
					res.Body.Close()
				}
			}
		})
		all.Go(func() {
			for range 15 {
				res, err := http.Get(s.URL + "/page")
				if err != nil {
					continue
				}
				mu.Lock()
				if strings.Contains(fmt.Sprint(res.Header["Set-Cookie"]), "session-token") {
					astray++
				}
				mu.Unlock()
				res.Body.Close()
			}
		})
	}
	all.Wait()
	if astray > 0 {
		t.Errorf("%d of 60 answers to others carry the session cookie", astray)
	}
}
