package oidc_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/internal/oidc"
	"github.com/latchkey-go/latchkey/internal/upstream"
)

// held returns a handler that waits until it is released.
func held() (h func(next http.HandlerFunc) http.HandlerFunc, release func()) {
	gate := make(chan struct{})
	return func(next http.HandlerFunc) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-gate:
				next(w, r)
			case <-r.Context().Done():
			}
		}
	}, sync.OnceFunc(func() { close(gate) })
}

func TestColdStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		op := newIssuer()
		hold, release := held()
		good := fmt.Sprintf(`{"issuer":%q}`, opURL)
		op.answer(documentPath, hold(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(good)) }))
		c := newClient(op)
		impatient, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for i := range 1000 {
			all.Go(func() {
				if i%10 == 0 {
					if _, err := c.Metadata(impatient, opURL); !errors.Is(err, context.Canceled) {
						t.Errorf("who left got %v", err)
					}
					return
				}
				if m, err := c.Metadata(t.Context(), opURL); err != nil || m.Issuer != opURL {
					t.Errorf("a waiter got %v", err)
				}
			})
		}
		synctest.Wait() // all of them wait
		leave()
		synctest.Wait() // a tenth has left
		release()
		all.Wait()
		if n := op.documents.Load(); n != 1 {
			t.Errorf("%d fetches for 1000 waiters", n)
		}
	})
}

// TestFetchAfterCancellation: a fetch continues when its callers have left, until the timeout of the request.
func TestFetchAfterCancellation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		op := newIssuer()
		ended := make(chan struct{})
		op.answer(documentPath, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done(); close(ended) })
		c := newClient(op)
		ctx, leave := context.WithCancel(t.Context())
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() { _, _ = c.Metadata(ctx, opURL) })
		}
		synctest.Wait()
		start := time.Now()
		leave()
		all.Wait()
		if took := time.Since(start); took != 0 {
			t.Errorf("the callers left after %v", took)
		}
		<-ended
		if took := time.Since(start); took != upstream.DefaultTimeout {
			t.Errorf("the fetch took %v", took)
		}
		op.answer(documentPath, nil)
		synctest.Wait()
		c.forward(3 * time.Second) // an error is cached for this time
		if _, err := c.Metadata(t.Context(), opURL); err != nil {
			t.Errorf("who comes next pays for it: %v", err)
		}
	})
}

func TestCanceledCallerFetchesNothing(t *testing.T) {
	t.Parallel()
	op := newIssuer()
	ctx, leave := context.WithCancel(t.Context())
	leave()
	if _, err := newClient(op).Metadata(ctx, opURL); !errors.Is(err, context.Canceled) || op.documents.Load() != 0 {
		t.Errorf("error %v after %d fetches", err, op.documents.Load())
	}
}

func TestOutageAndRecovery(t *testing.T) {
	t.Parallel()
	op := newIssuer()
	c := newClient(op)
	op.answer(documentPath, status(http.StatusInternalServerError))
	for range 5 {
		if _, err := c.Metadata(t.Context(), opURL); err == nil {
			t.Fatal("no error although the provider is unavailable")
		}
	}
	if n := op.documents.Load(); n != 1 {
		t.Errorf("%d fetches within the time a failure is believed", n)
	}
	op.answer(documentPath, nil)
	c.forward(5 * time.Second)
	if _, err := c.Metadata(t.Context(), opURL); err != nil {
		t.Errorf("did not recover: %v", err)
	}
}

func TestCachedDocumentDuringAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		op := newIssuer()
		var log bytes.Buffer
		c := newClient(op, slog.NewTextHandler(&log, nil))
		if _, err := c.Metadata(t.Context(), opURL); err != nil {
			t.Fatal(err)
		}
		op.answer(documentPath, func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }) // hangs
		c.forward(2 * time.Hour)
		if _, err := c.Metadata(t.Context(), opURL); err != nil { // the first waits for the deadline
			t.Errorf("an old document does not serve: %v", err)
		}
		synctest.Wait()
		if !strings.Contains(log.String(), "host=op.example") {
			t.Errorf("it is not logged: %q", log.String())
		}
		c.forward(time.Minute)
		start := time.Now()
		for range 10 {
			if _, err := c.Metadata(t.Context(), opURL); err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(start); took != 0 {
			t.Errorf("with an old document at hand callers waited %v", took)
		}
		synctest.Wait()
		if n := op.documents.Load(); n != 3 {
			t.Errorf("%d fetches, want the first, the failed and one behind the callers' backs", n)
		}
		time.AfterFunc(time.Minute, func() { c.forward(24 * time.Hour) })
		<-time.NewTimer(2 * time.Minute).C
		if _, err := c.Metadata(t.Context(), opURL); err == nil {
			t.Error("a document of yesterday serves")
		}
	})
}

func TestRefreshAhead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		op := newIssuer()
		c := newClient(op)
		get := func() *oidc.Metadata {
			m, err := c.Metadata(t.Context(), opURL)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}
		first := get()
		c.forward(54 * time.Minute)
		get()
		synctest.Wait()
		if n := op.documents.Load(); n != 1 {
			t.Fatalf("%d fetches of a fresh document", n)
		}
		c.forward(2 * time.Minute)
		hold, release := held()
		op.answer(documentPath,
			hold(func(w http.ResponseWriter, _ *http.Request) { _, _ = fmt.Fprintf(w, `{"issuer":%q}`, opURL) }))
		for range 10 {
			if get() != first {
				t.Error("not the old document while the new one is on its way")
			}
		}
		release()
		synctest.Wait()
		if n := op.documents.Load(); n != 2 || get() == first {
			t.Errorf("%d fetches, new document: %v", n, get() != first)
		}
	})
}

func TestIssuersAreBounded(t *testing.T) {
	t.Parallel()
	fetches := 0
	c := newClient(transportFunc(func(r *http.Request) (*http.Response, error) {
		return answering(r, func(w http.ResponseWriter, r *http.Request) {
			fetches++
			_, _ = fmt.Fprintf(w, `{"issuer":"https://%s"}`, r.URL.Host)
		})
	}))
	const issuers = 300
	for round := range 2 {
		for i := range issuers {
			if _, err := c.Metadata(t.Context(), fmt.Sprintf("https://op-%d.example", i)); err != nil {
				t.Fatal(err)
			}
			c.forward(time.Millisecond)
		}
		if want := issuers * (round + 1); fetches != want { // in a fixed order, the next one was always evicted before
			t.Errorf("%d fetches, want %d: more is kept than there is room for", fetches, want)
		}
	}
}

type transportFunc func(*http.Request) (*http.Response, error)

func (f transportFunc) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// TestTransportThatFails calls code of the operator that panics or ends its goroutine, on a goroutine of this package.
func TestTransportThatFails(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(){"panic": func() { panic("canary") }, "Goexit": runtime.Goexit} {
		t.Run(name, func(t *testing.T) {
			c := newClient(transportFunc(func(*http.Request) (*http.Response, error) { end(); return nil, nil }))
			if _, err := c.Metadata(t.Context(), opURL); err == nil {
				t.Error("no error")
			}
		})
	}
}

// TestTenantsDoNotShare uses two configurations with different responses of the same issuer.
func TestTenantsDoNotShare(t *testing.T) {
	t.Parallel()
	one, two := newIssuer(), newIssuer()
	one.document["token_endpoint"], two.document["token_endpoint"] = opURL+"/one", opURL+"/two"
	first, err := newClient(one).Metadata(t.Context(), opURL)
	if err != nil {
		t.Fatal(err)
	}
	second, err := newClient(two).Metadata(t.Context(), opURL)
	if err != nil || first.TokenEndpoint == second.TokenEndpoint {
		t.Errorf("%v, %v", second, err)
	}
}

func TestMetadata(t *testing.T) {
	t.Parallel()
	op := newIssuer()
	maps.Copy(op.document, map[string]any{
		"ISSUER": "https://evil.example", "Token_Endpoint": "https://evil.example/token",
		"token_endpoint_auth_signing_alg_values_supported": []any{"none", 7, "RS256"},
		"authorization_response_iss_parameter_supported":   true, "userinfo_endpoint": nil,
	})
	m, err := newClient(op).Metadata(t.Context(), opURL)
	if err != nil {
		t.Fatal(err)
	}
	want := oidc.Metadata{
		Issuer: opURL, AuthorizationEndpoint: opURL + "/authorize", TokenEndpoint: opURL + "/token", JWKSURI: opURL + "/jwks",
		IDTokenSigningAlgs:                         []string{"RS256", "ES256", "EdDSA", "none", "HS256"},
		TokenEndpointAuthSigningAlgs:               []string{"none", "RS256"},
		AuthorizationResponseIssParameterSupported: true,
	}
	if fmt.Sprintf("%+v", *m) != fmt.Sprintf("%+v", want) {
		t.Errorf("got  %+v\nwant %+v", *m, want)
	}
}

func TestEndpoints(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name     string
		endpoint any
		ok       bool
	}{
		{"https", "https://login.example/token", true},
		{"with a query", "https://op.example/token?tenant=1", true},
		{"with a port", "https://op.example:8443/token", true},
		{"null", nil, true},

		{"plain http", "http://op.example/token", false},
		{"plain http on this machine, issuer elsewhere", "http://127.0.0.1:8080/token", false},
		{"https on this machine, issuer elsewhere", "https://localhost/token", false},
		{"https on this machine by IPv6, issuer elsewhere", "https://[::1]/token", false},
		{"user", "https://op.example@evil.example/token", false},
		{"fragment", "https://op.example/token#x", false},
		{"path", "/token", false},
		{"no host", "https:///token", false},
		{"port alone", "https://:443/token", false},
		{"script", "javascript:alert(1)", false},
		{"line break", "https://op.example/\ntoken", false},
		{"too long", "https://op.example/" + strings.Repeat("x", 2<<10), false},
		{"number", 7, false},
		{"list", []string{"https://op.example/token"}, false},
		{"empty", "", true},
	} {
		t.Run(row.name, func(t *testing.T) {
			op := newIssuer()
			op.document["token_endpoint"] = row.endpoint
			if _, err := newClient(op).Metadata(t.Context(), opURL); (err == nil) != row.ok {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestIssuers(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		issuer, asked string // asked is the path, "" if no request is allowed
	}{
		{"https://op.example", "/.well-known/openid-configuration"},
		{"https://op.example/", "/.well-known/openid-configuration"},
		{"https://op.example/tenant/v2.0", "/tenant/v2.0/.well-known/openid-configuration"},
		{"https://op.example/tenant/", "/tenant/.well-known/openid-configuration"},

		{"https://op.example?x=1", ""},
		{"https://op.example?", ""},
		{"https://op.example#x", ""},
		{"https://user@op.example", ""},
		{"http://op.example", ""},
		{"op.example", ""},
		{"", ""},
		{"https://169.254.169.254", ""},
	} {
		t.Run(row.issuer, func(t *testing.T) {
			asked := ""
			c := newClient(transportFunc(func(r *http.Request) (*http.Response, error) {
				asked = r.URL.RequestURI()
				return answering(r, func(w http.ResponseWriter, _ *http.Request) {
					_, _ = fmt.Fprintf(w, `{"issuer":%q}`, row.issuer)
				})
			}))
			_, err := c.Metadata(t.Context(), row.issuer)
			if asked != row.asked || (err == nil) != (row.asked != "") {
				t.Errorf("asked %q, error %v", asked, err)
			}
		})
	}
}

// TestRealConnections uses real connections: an issuer on this machine with plain http.
func TestRealConnections(t *testing.T) {
	t.Parallel()
	op := newIssuer()
	server := newServer(t, op)
	op.document["issuer"], op.document["jwks_uri"] = server, server+keysPath
	op.document["token_endpoint"] = server + "/token"
	d := oidc.New(oidc.Options{Client: upstream.New(upstream.Options{}), Now: func() time.Time { return now }})
	m, err := d.Metadata(t.Context(), server)
	if err != nil {
		t.Fatal(err)
	}
	raw := token(t, nil, map[string]any{"iss": server}, "rs1")
	claims, err := d.VerifyIDToken(t.Context(), raw,
		oidc.Expect{Metadata: m, ClientID: "client-1", Nonce: "n-1", AccessToken: "at-1"})
	if err != nil || claims["sub"] != "u1" {
		t.Errorf("%v, %v", claims, err)
	}
}
