package storm

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/conformance/rig/engines"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/password"
	"github.com/latchkey-go/latchkey/storage/etcd"
	"github.com/latchkey-go/latchkey/storage/mysql"
	"github.com/latchkey-go/latchkey/storage/postgres"
	redisstore "github.com/latchkey-go/latchkey/storage/redis"
	"github.com/latchkey-go/latchkey/storage/sqlite"
)

// serving is the environment variable that makes a process of this program a server.
const serving = "LATCHKEY_STORM_SERVER"

// task is the input of a server process.
type task struct {
	Engine, URL string // the store
	Address     string // where to listen
	Mails       string // where sign-in links are posted
}

func TestMain(m *testing.M) {
	if text := os.Getenv(serving); text != "" {
		var t task
		err := json.Unmarshal([]byte(text), &t)
		if err == nil {
			err = serve(t)
		}
		fmt.Fprintln(os.Stderr, "server:", err)
		os.Exit(1)
	}
	os.Exit(engines.Main(m))
}

// openStore opens the store of a database, with its tables.
func openStore(ctx context.Context, engine, at string) (core.Store, error) {
	type migrating interface {
		core.Store
		Migrate(ctx context.Context) error
	}
	var s migrating
	var err error
	switch engine {
	case "redis":
		return redisstore.Open(at, redisstore.Options{})
	case "etcd":
		return etcd.Open(at, etcd.Options{})
	case "postgres":
		s, err = postgres.Open(at, postgres.Options{})
	case "mariadb":
		s, err = mysql.Open(at, mysql.Options{})
	default:
		s, err = sqlite.Open(at, sqlite.Options{})
	}
	if err != nil {
		return nil, err
	}
	return s, s.Migrate(ctx)
}

// serve runs a server process. It ends when it is killed.
func serve(t task) error {
	ctx := context.Background()
	store, err := openStore(ctx, t.Engine, t.URL)
	if err != nil {
		return err
	}
	config := core.Config{
		Store: store, Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, InsecureNoLimits: true,
		Logger: slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
		Providers: []core.Provider{
			&core.OAuthProvider{
				ID: "p", Type: core.TypeOAuth, ClientID: "id", ClientSecret: "secret",
				HTTPClient:    &http.Client{Transport: provider{}},
				Authorization: core.Endpoint{URL: "https://p.example/authorize"},
				Token:         core.Endpoint{URL: "https://p.example/token"},
				Userinfo:      core.Endpoint{URL: "https://p.example/userinfo"},
			},
			&core.EmailProvider{ID: "email", From: "no-reply@app.test", Send: t.Send},
			password.New(password.Options{Mail: t, Hash: password.Params{Memory: 64}}),
		},
	}
	config.Session.Strategy, config.Session.UpdateAge = core.StrategyDatabase, core.UpdateAlways // each read writes
	auth, err := core.New(config)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	authhttp.New(auth).Mount(mux)
	return (&http.Server{Addr: t.Address, Handler: mux, ReadHeaderTimeout: 5 * time.Second}).ListenAndServe()
}

// Send implements [core.Mailer]. It posts a link to the process of the test.
func (t task) Send(ctx context.Context, l core.Email) error {
	form := strings.NewReader(url.Values{"to": {l.To}, "url": {string(l.URL)}}.Encode())
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, t.Mails, form)
	if err != nil {
		return err
	}
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	return answer.Body.Close()
}

// provider is the transport to an OAuth provider. The authorization code is the access token, and both name the user.
type provider struct{}

// RoundTrip implements [http.RoundTripper].
func (provider) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := map[string]string{"token_type": "bearer"}
	if r.URL.Path == "/token" {
		if err := r.ParseForm(); err != nil {
			return nil, err
		}
		answer["access_token"] = r.PostForm.Get("code")
	} else {
		person := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
		answer = map[string]string{"sub": person, "name": person, "email": address(person)}
	}
	body, err := json.Marshal(answer)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(body)),
	}, err
}

func address(person string) string { return person + "@example.com" }
