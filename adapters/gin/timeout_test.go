package authgin_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gin-gonic/gin"

	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	"github.com/latchkey-go/latchkey/core"
)

// TestTimeoutLeavesNoCookieAstray: a handler that outlives a timeout ends when its context is another visitor's.
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
	gin.SetMode(gin.ReleaseMode)
	e := gin.New()
	deadline := func(c *gin.Context) { // as gin-contrib/timeout does it
		done := make(chan struct{})
		real := c.Writer
		c.Writer = &buffered{real, http.Header{}}
		go func() { defer close(done); c.Next() }()
		select {
		case <-done:
		case <-time.After(20 * time.Millisecond):
			c.Writer = real
			c.AbortWithStatus(http.StatusGatewayTimeout)
		}
	}
	e.GET("/slow", deadline, authgin.New(a).Hook(), func(c *gin.Context) {
		_, _ = authgin.Session(c)
		time.Sleep(35 * time.Millisecond)
	})
	e.GET("/page", func(c *gin.Context) { time.Sleep(40 * time.Millisecond); c.String(200, "page") })
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

// buffered keeps an answer back until it is known to be in time.
type buffered struct {
	gin.ResponseWriter
	header http.Header
}

func (b *buffered) Header() http.Header { return b.header }
