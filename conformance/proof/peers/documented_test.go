package peers_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// certificate writes one for app.example, signed by itself, with its key.
func certificate(t *testing.T) (cert, key string) {
	t.Helper()
	private, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), DNSNames: []string{"app.example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
	}
	signed, err := x509.CreateCertificate(rand.Reader, template, template, &private.PublicKey, private)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{
		cert: {Type: "CERTIFICATE", Bytes: signed}, key: {Type: "PRIVATE KEY", Bytes: der},
	} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// proxied is an application that tells where those who sign in come from.
func proxied(t *testing.T, peers chan<- netip.Prefix) string {
	t.Helper()
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.example",
		TrustedProxies: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")},
		Getenv:         func(string) string { return "" },
		Callbacks: core.Callbacks{Limit: func(_ context.Context, p core.LimitParams) (time.Duration, error) {
			peers <- p.Peer
			return 0, nil
		}},
		Providers: []core.Provider{&core.CredentialsProvider{
			Authorize: func(context.Context, map[string]string, *core.Request) (*core.User, error) {
				return &core.User{ID: "1", Name: "Ada"}, nil
			},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	authhttp.New(auth).Mount(mux)
	application := httptest.NewServer(mux)
	t.Cleanup(application.Close)
	return strings.TrimPrefix(application.URL, "http://")
}

// browser speaks TLS to nginx at address as if it were https://app.example, and follows nothing.
func browser(t *testing.T, address string) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: stop, Timeout: 20 * time.Second, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the certificate is its own
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}}
}

// signInAt signs in with a form, as a visitor who would like to be somebody else.
func signInAt(t *testing.T, client *http.Client) {
	t.Helper()
	answer, err := client.Get("https://app.example/auth/csrf")
	if err != nil {
		t.Fatal(err)
	}
	var csrf struct{ CSRFToken string }
	err = json.NewDecoder(answer.Body).Decode(&csrf)
	_ = answer.Body.Close()
	if err != nil {
		t.Fatal(err)
	}
	form := url.Values{"csrfToken": {csrf.CSRFToken}, "callbackUrl": {"/in"}}
	post, err := http.NewRequest(http.MethodPost, "https://app.example/auth/callback/credentials",
		strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	post.Header.Set("X-Forwarded-For", "9.9.9.9")
	if answer, err = client.Do(post); err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if to := answer.Header.Get("Location"); to != "https://app.example/in" {
		t.Errorf("%d to %q", answer.StatusCode, to)
	}
	var names []string
	for _, c := range answer.Cookies() {
		names = append(names, c.Name)
	}
	if !strings.Contains(strings.Join(names, " "), "__Secure-authjs.session-token") {
		t.Errorf("cookies %v: not signed in over https", names)
	}
}

// TestDocumentedNginx starts nginx with the servers that pages show, and signs in over TLS. Addresses and certificates
// alone are those of the test. Of two applications one is down.
func TestDocumentedNginx(t *testing.T) {
	for _, page := range []string{"production.md", "replicas.md"} {
		t.Run(page, func(t *testing.T) {
			raw, err := os.ReadFile("../../../docs/recipes/" + page)
			if err != nil {
				t.Fatal(err)
			}
			m := regexp.MustCompile("(?s)```nginx\n(.*?)```").FindStringSubmatch(string(raw))
			if m == nil {
				t.Fatal("the page shows no nginx")
			}
			peers := make(chan netip.Prefix, 10)
			cert, key := certificate(t)
			address, application := free(t), proxied(t, peers)
			startNginx(t, address, strings.NewReplacer(
				"listen 443", "listen "+address, "listen 80", "listen "+free(t),
				"/etc/ssl/app.example.pem", cert, "/etc/ssl/app.example.key", key,
				"127.0.0.1:3000", application, "10.0.0.11:3000", free(t), "10.0.0.12:3000", application,
			).Replace(m[1]))
			signInAt(t, browser(t, address))
			if peer := <-peers; peer != netip.MustParsePrefix("127.0.0.1/32") {
				t.Errorf("the visitor is believed to come from %v", peer)
			}
		})
	}
}
