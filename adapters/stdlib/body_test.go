package authhttp_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

const formType = "application/x-www-form-urlencoded"

// newSite returns an Auth with one password, its log, and a CSRF token with its cookies.
func newSite(t *testing.T) (auth *core.Auth, log *bytes.Buffer, token string, cookies []*http.Cookie) {
	t.Helper()
	log = &bytes.Buffer{}
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
	authhttp.New(auth).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://app.test/auth/csrf", nil))
	_, token, _ = strings.Cut(strings.TrimSuffix(w.Body.String(), `"}`), `:"`)
	return auth, log, token, w.Result().Cookies()
}

// TestBodiesThatMiddlewareHasRead posts the right password to an auth route after each kind of middleware.
func TestBodiesThatMiddlewareHasRead(t *testing.T) {
	auth, log, token, cookies := newSite(t)
	fields := url.Values{"csrfToken": {token}, "name": {"Ada"}, "password": {"right"}, "callbackUrl": {"/in"}}
	form := func() (string, string) { return formType, fields.Encode() }
	jsonBody := func() (string, string) {
		return "application/json", `{"csrfToken":"` + token + `","name":"Ada","password":"right","callbackUrl":"/in"}`
	}
	withFile := func() (string, string) {
		var b bytes.Buffer
		w := multipart.NewWriter(&b)
		for name := range fields {
			_ = w.WriteField(name, fields.Get(name))
		}
		file, _ := w.CreateFormFile("password", "x.txt")
		_, _ = io.WriteString(file, "wrong")
		_ = w.Close()
		return w.FormDataContentType(), b.String()
	}
	drain := func(r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }
	const in, configuration = "http://app.test/in", "http://app.test/auth/error?error=Configuration"
	for _, row := range []struct {
		name string
		send func() (contentType, body string)
		read func(*http.Request)
		to   string // Location
		log  string
	}{
		{"nothing", form, func(*http.Request) {}, in, ""},
		{"ParseForm", form, func(r *http.Request) { _ = r.ParseForm() }, in, ""},
		{"ParseMultipartForm of an ordinary form", form, func(r *http.Request) { _ = r.ParseMultipartForm(1 << 20) }, in, ""},
		{"FormValue", form, func(r *http.Request) { _ = r.FormValue("_method") }, in, ""},
		{"PostFormValue, then a closed body", form,
			func(r *http.Request) { _ = r.PostFormValue("_method"); _ = r.Body.Close() }, in, ""},
		{"a logger that puts the body back", form, func(r *http.Request) {
			data, _ := io.ReadAll(r.Body)
			r.Body = io.NopCloser(bytes.NewReader(data))
		}, in, ""},
		{"ParseMultipartForm, with a file", withFile, func(r *http.Request) { _ = r.ParseMultipartForm(1 << 20) }, in, ""},
		{"a logger that keeps the body", form, drain, configuration, "a middleware or handler has read it"},
		{"a closed body", form, func(r *http.Request) { drain(r); _ = r.Body.Close() }, configuration, "has read it"},
		{"ParseForm of a copy of the request", form, func(r *http.Request) { _ = r.Clone(r.Context()).ParseForm() },
			configuration, "a middleware or handler has read it"},
		{"ParseForm, JSON", jsonBody, func(r *http.Request) { _ = r.ParseForm() }, in, ""},
		{"JSON, decoded", jsonBody, drain, configuration, "a middleware or handler has read it"},
	} {
		t.Run(row.name, func(t *testing.T) {
			log.Reset()
			mux := http.NewServeMux()
			authhttp.New(auth).Mount(mux)
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				row.read(r)
				mux.ServeHTTP(w, r)
			}))
			defer server.Close()
			contentType, body := row.send()
			r, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
				server.URL+"/auth/callback/credentials?password=wrong", strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			r.Header.Set("Content-Type", contentType)
			for _, c := range cookies {
				r.AddCookie(c)
			}
			res, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			_ = res.Body.Close()
			if to := res.Header.Get("Location"); res.StatusCode != http.StatusFound || to != row.to {
				t.Errorf("answered %d to %q", res.StatusCode, to)
			}
			if !strings.Contains(log.String(), row.log) || (row.log != "") != strings.Contains(log.String(), "ERROR") {
				t.Errorf("the log is %s", log)
			}
		})
	}
}

// TestLongForms checks that the limit of one mebibyte also applies to parsed forms.
func TestLongForms(t *testing.T) {
	auth, _, token, cookies := newSite(t)
	for _, row := range []struct {
		name  string
		bytes int
		wrap  func(http.Handler) http.Handler
	}{
		{"two mebibytes", 2 << 20, nil},
		{"more than ParseForm reads", 11 << 20, nil},
		{"the limit of a middleware", 2000, func(next http.Handler) http.Handler { return http.MaxBytesHandler(next, 1000) }},
	} {
		t.Run(row.name, func(t *testing.T) {
			var handler http.Handler = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				_ = r.ParseForm()
				authhttp.New(auth).ServeHTTP(w, r)
			})
			if row.wrap != nil {
				handler = row.wrap(handler)
			}
			r := httptest.NewRequest(http.MethodPost, "http://app.test/auth/callback/credentials",
				strings.NewReader("csrfToken="+token+"&password=right&pad="+strings.Repeat("x", row.bytes)))
			r.Header.Set("Content-Type", formType)
			for _, c := range cookies {
				r.AddCookie(c)
			}
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			if w.Code != http.StatusRequestEntityTooLarge {
				t.Errorf("answered %d to %q", w.Code, w.Header().Get("Location"))
			}
		})
	}
}

// TestFieldsAfterAFailure checks that the handler can read the form after core has read it, also after a success.
func TestFieldsAfterAFailure(t *testing.T) {
	auth, _, token, cookies := newSite(t)
	a := authhttp.New(auth)
	for _, row := range []struct{ name, contentType, body, want string }{
		{"a form", formType, "csrfToken=" + token + "&providerId=credentials&name=Ada&name=Eve", "Ada,Eve"},
		{"JSON", "application/json", `{"csrfToken":"` + token + `","providerId":"credentials"}`, `{"csrfToken":"`},
		{"another type", "text/plain", "name=Ada", "name=Ada"},
	} {
		t.Run(row.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodPost, "http://app.test/signin", strings.NewReader(row.body))
			r.Header.Set("Content-Type", row.contentType)
			for _, c := range cookies {
				r.AddCookie(c)
			}
			w := httptest.NewRecorder()
			var failure *core.Error
			if err := a.StartSignIn(w, r, nil); !errors.As(err, &failure) {
				t.Fatalf("StartSignIn: %v", err)
			}
			var got string
			if row.contentType == formType {
				_ = r.ParseForm()
				got = strings.Join(r.PostForm["name"], ",")
			} else {
				rest, _ := io.ReadAll(r.Body)
				got = string(rest)
			}
			if !strings.HasPrefix(got, row.want) {
				t.Errorf("the handler reads %q", got)
			}
			if err := r.Body.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestAskReadsInSmallPieces checks that recording a body that arrives byte by byte does not allocate for each byte.
func TestAskReadsInSmallPieces(t *testing.T) {
	body := strings.Repeat("x", 1<<16)
	entry := func(_ context.Context, r *core.Request) *core.Response {
		for piece := make([]byte, 1); ; {
			if _, err := r.Body.Read(piece); err != nil {
				return &core.Response{}
			}
		}
	}
	allocs := testing.AllocsPerRun(3, func() {
		r := httptest.NewRequest(http.MethodPost, "http://app.test/auth/signin", strings.NewReader(body))
		authhttp.Ask(r, entry)
		if read, err := io.ReadAll(r.Body); err != nil || string(read) != body {
			t.Errorf("%d bytes are left in the request, %v", len(read), err)
		}
	})
	if allocs > 1000 {
		t.Errorf("%.0f allocations", allocs)
	}
}
