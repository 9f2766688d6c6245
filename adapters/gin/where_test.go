package authgin_test

import (
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"

	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	"github.com/latchkey-go/latchkey/core"
)

// TestUnderReadsThePathOfTheRouter checks that a guard after a path rewrite protects the page that gin serves.
func TestUnderReadsThePathOfTheRouter(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	auth, err := core.New(core.Config{
		URL: "http://app.test", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	r := gin.New()
	group := r.Group("/app", authgin.New(auth).RequireSessionWhere(core.PathPrefix("/app/admin")))
	r.Use(authgin.New(auth).RequireSessionWhere(core.PathPrefix("/admin")))
	for _, path := range []string{"/admin/users", "/public"} {
		r.GET(path, func(c *gin.Context) { c.String(200, "page") })
		group.GET(path, func(c *gin.Context) { c.String(200, "page") })
	}
	rewrite := http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		q.URL.Path = strings.TrimPrefix(q.URL.Path, "/de")
		r.ServeHTTP(w, q)
	})
	for _, row := range []struct {
		handler http.Handler
		path    string
		status  int
	}{
		{r, "/admin/users", 401},
		{r, "/public", 200},
		{r, "/app/admin/users", 401},
		{r, "/app/public", 200},
		{rewrite, "/de/admin/users", 401},
		{rewrite, "/de/public", 200},
		{http.StripPrefix("/v1", r), "/v1/admin/users", 401},
		{http.StripPrefix("/v1", r), "/v1/public", 200},
	} {
		w := httptest.NewRecorder()
		row.handler.ServeHTTP(w, httptest.NewRequest("GET", "http://app.test"+row.path, nil))
		if w.Code != row.status {
			t.Errorf("%s: answered %d, want %d", row.path, w.Code, row.status)
		}
	}
}
