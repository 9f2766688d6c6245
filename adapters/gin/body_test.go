package authgin_test

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/gin-gonic/gin/binding"

	authgin "github.com/latchkey-go/latchkey/adapters/gin"
	"github.com/latchkey-go/latchkey/core"
)

// TestBodiesThatMiddlewareHasRead posts the right password after gin has read the body in several ways.
func TestBodiesThatMiddlewareHasRead(t *testing.T) {
	gin.SetMode(gin.ReleaseMode)
	log := &bytes.Buffer{}
	auth, err := core.New(core.Config{
		URL: "http://app.test", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, Logger: slog.New(slog.NewTextHandler(log, nil)),
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(_ context.Context, f map[string]string, _ *core.Request) (*core.User, error) {
				if f["password"] != "right" {
					return nil, nil
				}
				return &core.User{ID: "1", Name: f["name"]}, nil
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	w := httptest.NewRecorder()
	r := gin.New()
	authgin.New(auth).Mount(r)
	r.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://app.test/auth/csrf", nil))
	_, token, _ := strings.Cut(strings.TrimSuffix(w.Body.String(), `"}`), `:"`)
	type input struct {
		Name string `form:"name" json:"name"`
	}
	form := "csrfToken=" + token + "&name=Ada&password=right&callbackUrl=/in"
	asJSON := `{"csrfToken":"` + token + `","name":"Ada","password":"right","callbackUrl":"/in"}`
	const in, configuration = "http://app.test/in", "http://app.test/auth/error?error=Configuration"
	const formType = "application/x-www-form-urlencoded"
	for _, row := range []struct {
		name, contentType, body string
		read                    gin.HandlerFunc
		to, log                 string
	}{
		{"PostForm", formType, form, func(c *gin.Context) { c.PostForm("_method") }, in, ""},
		{"ShouldBind", formType, form, func(c *gin.Context) { _ = c.ShouldBind(&input{}) }, in, ""},
		{"ShouldBindWith a form", formType, form,
			func(c *gin.Context) { _ = c.ShouldBindWith(&input{}, binding.FormPost) }, in, ""},
		{"ShouldBindBodyWith", "application/json", asJSON,
			func(c *gin.Context) { _ = c.ShouldBindBodyWith(&input{}, binding.JSON) }, in, ""},
		{"ShouldBindJSON", "application/json", asJSON, func(c *gin.Context) { _ = c.ShouldBindJSON(&input{}) },
			configuration, "a middleware or handler has read it"},
		{"GetRawData", formType, form, func(c *gin.Context) { _, _ = c.GetRawData() },
			configuration, "a middleware or handler has read it"},
		{"a logger that puts the body back", "application/json", asJSON, func(c *gin.Context) {
			data, _ := io.ReadAll(c.Request.Body)
			c.Request.Body = io.NopCloser(bytes.NewReader(data))
		}, in, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			log.Reset()
			router := gin.New()
			router.Use(row.read)
			authgin.New(auth).Mount(router)
			r := httptest.NewRequest(http.MethodPost, "http://app.test/auth/callback/credentials", strings.NewReader(row.body))
			r.Header.Set("Content-Type", row.contentType)
			for _, c := range w.Result().Cookies() {
				r.AddCookie(c)
			}
			answer := httptest.NewRecorder()
			router.ServeHTTP(answer, r)
			if to := answer.Header().Get("Location"); answer.Code != http.StatusFound || to != row.to {
				t.Errorf("answered %d to %q", answer.Code, to)
			}
			if !strings.Contains(log.String(), row.log) {
				t.Errorf("the log is %s", log)
			}
		})
	}
}
