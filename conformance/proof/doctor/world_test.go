package doctor_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/mail"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/idp"
	"github.com/latchkey-go/latchkey/providers"
	"github.com/latchkey-go/latchkey/providers/smtp"
	bboltstore "github.com/latchkey-go/latchkey/storage/bbolt"
	sqlitestore "github.com/latchkey-go/latchkey/storage/sqlite"
)

const (
	secret       = core.Secret("canary+Gq7mZt0wXUe1JkR5vYh2aP9sLd4fNbC8")
	clientSecret = core.Secret("canary-Tz3kQ8vB1nW6xM0p")
	phrase       = "canary!Hm5-Rw2"
	site         = "https://app.example.org"
	here         = "http://localhost:3000"
)

// world contains the services that setups use.
type world struct {
	*testing.T
	env map[string]string
	// canaries are secrets that were generated during the test.
	canaries []string
}

func (w *world) getenv(name string) string { return w.env[name] }

// sound returns a configuration without problems.
func (w *world) sound() core.Config {
	return core.Config{
		URL: here, Secrets: []core.Secret{secret}, Getenv: w.getenv,
		Providers: []core.Provider{w.plain()},
	}
}

// plain returns an OAuth 2 provider without discovery.
func (w *world) plain() *core.OAuthProvider {
	return &core.OAuthProvider{
		ID: "acme", Name: "Acme", Type: core.TypeOAuth, ClientID: "app-4711", ClientSecret: clientSecret,
		Authorization: core.Endpoint{URL: "https://acme.test/authorize"},
		Token:         core.Endpoint{URL: "https://acme.test/token"}, Userinfo: core.Endpoint{URL: "https://acme.test/me"},
	}
}

// real returns the development provider, an OpenID provider from another project, with this registered callback URL.
func (w *world) real(callback string) (o providers.Options, issuer string) {
	w.Helper()
	server, err := idp.Start(idp.Options{RedirectURIs: []string{callback}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = server.Close() })
	w.canaries = append(w.canaries, server.ClientSecret())
	return providers.Options{
		ClientID: server.ClientID(), ClientSecret: core.Secret(server.ClientSecret()),
	}, server.Issuer()
}

// op is a provider with the metadata that a test needs.
type op struct {
	*httptest.Server
	// says are members that replace those of a valid discovery document. keys is the key set.
	says map[string]any
	keys string
	// date, if set, is the Date header of its responses. page replaces its sign-in page.
	date   time.Time
	status int
	page   string
}

const rsaKey = `{"kty":"RSA","use":"sig","alg":"RS256","kid":"1","e":"AQAB","n":"` +
	`vJc0mJ1r0kq2n8mXw0oE3o0b8c9yQ2wP0f6fYx2cA0m1Zk3k8W5n4d2h7T9s6u1v"}`

func (w *world) op(o op) *op {
	w.Helper()
	mux := http.NewServeMux()
	if o.keys == "" {
		o.keys = `{"keys":[` + rsaKey + `]}`
	}
	answer := func(pattern string, serve func(http.ResponseWriter)) {
		mux.HandleFunc(pattern, func(rw http.ResponseWriter, _ *http.Request) {
			if !o.date.IsZero() {
				rw.Header().Set("Date", o.date.UTC().Format(http.TimeFormat))
			}
			serve(rw)
		})
	}
	answer("GET /.well-known/openid-configuration", func(rw http.ResponseWriter) {
		document := map[string]any{
			"issuer": o.URL, "authorization_endpoint": o.URL + "/authorize", "token_endpoint": o.URL + "/token",
			"jwks_uri": o.URL + "/keys", "userinfo_endpoint": o.URL + "/me", "response_types_supported": []string{"code"},
			"id_token_signing_alg_values_supported": []string{"RS256"},
			"subject_types_supported":               []string{"public"},
		}
		for name, value := range o.says {
			document[name] = value
		}
		_ = json.NewEncoder(rw).Encode(document)
	})
	answer("GET /keys", func(rw http.ResponseWriter) { _, _ = io.WriteString(rw, o.keys) })
	answer("GET /authorize", func(rw http.ResponseWriter) {
		if o.status != 0 {
			rw.WriteHeader(o.status)
		}
		_, _ = io.WriteString(rw, o.page)
	})
	answer("POST /token", func(rw http.ResponseWriter) {
		rw.Header().Set("Content-Type", "application/json")
		rw.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(rw, `{"error":"invalid_grant"}`)
	})
	o.Server = httptest.NewServer(mux)
	w.Cleanup(o.Close)
	return &o
}

func (o *op) provider() *core.OAuthProvider {
	return &core.OAuthProvider{
		ID: "op", Name: "OP", Type: core.TypeOIDC, Issuer: o.URL, ClientID: "app-4711", ClientSecret: clientSecret,
	}
}

func (w *world) with(p ...core.Provider) core.Config {
	c := w.sound()
	c.Providers = p
	return c
}

// serves is a transport that responds from memory, with the discovery documents of public services.
type serves map[string]string

// RoundTrip implements http.RoundTripper.
func (s serves) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	if text, ok := s[r.URL.Host+r.URL.Path]; ok {
		answer.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(answer, text)
	} else {
		answer.WriteHeader(http.StatusNotFound)
	}
	result := answer.Result()
	result.Request = r
	return result, nil
}

// discovers returns a client that gets a valid discovery document of an issuer.
func discovers(issuer, at string) *http.Client {
	return &http.Client{Transport: serves{
		at + "/.well-known/openid-configuration": `{"issuer":"` + issuer + `","authorization_endpoint":"` + issuer +
			`/authorize","token_endpoint":"` + issuer + `/token","jwks_uri":"` + issuer + `/keys",` +
			`"token_endpoint_auth_methods_supported":["client_secret_basic","client_secret_post"],` +
			`"response_types_supported":["code"],"id_token_signing_alg_values_supported":["RS256"]}`,
		at + "/keys": `{"keys":[` + rsaKey + `]}`,
	}}
}

func (w *world) sqlite(path string) *sqlitestore.Store {
	w.Helper()
	s, err := sqlitestore.Open(path, sqlitestore.Options{})
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = s.Close() })
	return s
}

func (w *world) migrated() *sqlitestore.Store {
	w.Helper()
	s := w.sqlite(w.TempDir() + "/app.db")
	if err := s.Migrate(w.Context()); err != nil {
		w.Fatal(err)
	}
	return s
}

func (w *world) bbolt() *bboltstore.Store {
	w.Helper()
	s, err := bboltstore.Open(w.TempDir() + "/app.bolt")
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = s.Close() })
	return s
}

// mailServer starts a real mail server.
func (w *world) mailServer(o mail.Options) *mail.Server {
	w.Helper()
	s, err := mail.Start(o)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(s.Close)
	return s
}

// certificate returns a TLS configuration for 127.0.0.1, and one of a client that trusts it.
func (w *world) certificate() (server, client *tls.Config) {
	w.Helper()
	s := httptest.NewTLSServer(nil)
	w.Cleanup(s.Close)
	roots := x509.NewCertPool()
	roots.AddCert(s.Certificate())
	return &tls.Config{Certificates: s.TLS.Certificates}, &tls.Config{RootCAs: roots}
}

// mailing returns a valid configuration with email sign-in through a server, "smtp://…".
func (w *world) mailing(server string, o smtp.Options) core.Config {
	w.Helper()
	c := w.sound()
	o.Server, o.From = core.Secret(server), "App <no-reply@app.example.org>"
	c.Store, c.Providers = w.migrated(), []core.Provider{smtp.New("nodemailer", o)}
	return c
}

func credentials(server string) string { return "smtp://app:" + "canary%21Hm5-Rw2" + "@" + server }

// closed returns an address without a listener.
func (w *world) closed() string {
	w.Helper()
	l, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", "127.0.0.1:0")
	if err != nil {
		w.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// deaf returns a server that accepts connections and sends nothing.
func (w *world) deaf() string { return w.mailServer(mail.Options{Deaf: true}).Addr }

func contains(text string, canaries []string) string {
	for _, c := range canaries {
		if c != "" && strings.Contains(text, c) {
			return c
		}
	}
	return ""
}
