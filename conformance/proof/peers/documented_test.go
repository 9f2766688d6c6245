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

// certificate writes a self-signed certificate for app.example and its key.
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

// place is the position of an application behind a proxy.
type place struct {
	name string
	url  string // Config.URL
	// prefix is the path prefix that browsers see. removed is set if the proxy removes it from requests.
	prefix  string
	removed bool
	// long is set for session cookies that are longer than the default buffers.
	long bool
}

var places = []place{
	{name: "as it is", url: "https://app.example"},
	{name: "a prefix that arrives", url: "https://app.example/app/auth", prefix: "/app"},
	{name: "a prefix that is removed", url: "https://app.example", prefix: "/app", removed: true},
	{name: "long cookies", url: "https://app.example", long: true},
}

// proxied serves an application that reports the network of each sign-in.
func proxied(t *testing.T, at place, peers chan<- netip.Prefix) (address string) {
	t.Helper()
	config := core.Config{
		Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: at.url,
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
	}
	if at.removed {
		config.PublicPath = at.prefix
	}
	if at.long {
		config.Callbacks.JWT = func(_ context.Context, p core.JWTParams) (*core.Token, error) {
			p.Token.Extra = core.Members{"groups": json.RawMessage(`"` + strings.Repeat("g", 5000) + `"`)}
			return p.Token, nil
		}
	}
	auth, err := core.New(config)
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	authhttp.New(auth).Mount(mux)
	application := httptest.NewServer(mux)
	t.Cleanup(application.Close)
	return strings.TrimPrefix(application.URL, "http://")
}

// browser returns a client that connects to a proxy at address as https://app.example. It follows no redirects.
func browser(t *testing.T, address string) *http.Client {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &http.Client{Jar: jar, CheckRedirect: stop, Timeout: time.Minute, Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, // the certificate is self-signed
		DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	}}
}

// signInAt signs in with a form, with forged proxy headers, and checks the session's user.
func signInAt(t *testing.T, client *http.Client, at place) {
	t.Helper()
	base := "https://app.example" + at.prefix
	var csrf struct{ CSRFToken string }
	read(t, client, base+"/auth/csrf", &csrf)
	form := url.Values{"csrfToken": {csrf.CSRFToken}, "callbackUrl": {at.prefix + "/in"}}
	post, err := http.NewRequest(http.MethodPost, base+"/auth/callback/credentials", strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	post.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	post.Header.Set("X-Forwarded-For", "9.9.9.9")
	post.Header.Set("X-Forwarded-Host", "evil.example")
	post.Header.Set("X-Forwarded-Proto", "http")
	answer, err := client.Do(post)
	if err != nil {
		t.Fatal(err)
	}
	_ = answer.Body.Close()
	if to := answer.Header.Get("Location"); to != base+"/in" {
		t.Errorf("%d to %q", answer.StatusCode, to)
	}
	tokens := 0
	for _, c := range answer.Cookies() {
		if strings.HasPrefix(c.Name, "__Secure-authjs.session-token") {
			tokens++
		}
	}
	if tokens == 0 || (tokens > 1) != at.long {
		t.Errorf("%d cookies of a session: %v", tokens, answer.Cookies())
	}
	var session struct{ User struct{ Name string } }
	if read(t, client, base+"/auth/session", &session); session.User.Name != "Ada" {
		t.Errorf("signed in is %q", session.User.Name)
	}
}

// read reads JSON from a URL.
func read(t *testing.T, client *http.Client, from string, into any) {
	t.Helper()
	answer, err := client.Get(from)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if err := json.NewDecoder(answer.Body).Decode(into); err != nil {
		t.Fatalf("%s: %s, %v", from, answer.Status, err)
	}
}

// shown returns the text that a regular expression with one group matches on a documentation page.
func shown(t *testing.T, page, expression string) string {
	t.Helper()
	raw, err := os.ReadFile("../../../docs/" + page)
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(expression).FindStringSubmatch(string(raw))
	if m == nil {
		t.Fatalf("%s shows no %s", page, expression)
	}
	return m[1]
}

// documentedNginx returns the nginx configuration of the deployment page, with the documented changes for a place.
func documentedNginx(t *testing.T, at place) string {
	t.Helper()
	servers := shown(t, "recipes/production.md", "(?s)```nginx\n(.*?)```")
	if at.removed {
		removing := shown(t, "deployment.md", "`location /app/ { (proxy_pass [^ ]+;) }`")
		servers = strings.Replace(servers, "location / {", "location /app/ {", 1)
		servers = strings.Replace(servers, "proxy_pass http://127.0.0.1:3000;", removing, 1)
	}
	if at.long {
		size := shown(t, "deployment.md", "`(proxy_buffer_size [^;`]+;)`")
		all := shown(t, "deployment.md", "`(proxy_buffers [^;`]+;)`")
		servers = strings.Replace(servers, "location / {", size+all+"location / {", 1)
	}
	return servers
}

// TestDocumentedNginx starts nginx with the documented configurations and signs in over TLS. The test changes only
// addresses and certificates. One of the two upstream applications is down.
func TestDocumentedNginx(t *testing.T) {
	try := func(name, servers string, at place) {
		t.Run(name, func(t *testing.T) {
			peers := make(chan netip.Prefix, 10)
			cert, key := certificate(t)
			address, application := free(t), proxied(t, at, peers)
			startNginx(t, address, strings.NewReplacer(
				"listen 443", "listen "+address, "listen 80", "listen "+free(t),
				"/etc/ssl/app.example.pem", cert, "/etc/ssl/app.example.key", key,
				"127.0.0.1:3000", application, "10.0.0.11:3000", free(t), "10.0.0.12:3000", application,
			).Replace(servers))
			signInAt(t, browser(t, address), at)
			fromHere(t, peers)
		})
	}
	for _, at := range places {
		try(at.name, documentedNginx(t, at), at)
	}
	try("replicas", shown(t, "recipes/replicas.md", "(?s)```nginx\n(.*?)```"), places[0])
}

// fromHere checks that the sign-in's network is this machine, despite forged headers.
func fromHere(t *testing.T, peers <-chan netip.Prefix) {
	t.Helper()
	select {
	case peer := <-peers:
		if peer != netip.MustParsePrefix("127.0.0.1/32") {
			t.Errorf("the client's network is %v", peer)
		}
	default:
		t.Error("no sign-in was reported")
	}
}
