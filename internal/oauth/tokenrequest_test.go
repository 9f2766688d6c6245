package oauth_test

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"net/url"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/latchkey-go/latchkey/internal/oauth"
)

// TestEveryTransportSends: x/oauth2 sends its requests. No transport only records a request for other code to send.
func TestEveryTransportSends(t *testing.T) {
	t.Parallel()
	found := 0
	check := func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || f.Name.Name != "RoundTrip" {
				continue
			}
			found++
			sends := false
			ast.Inspect(f.Body, func(n ast.Node) bool {
				called, ok := n.(*ast.SelectorExpr)
				sends = sends || ok && (called.Sel.Name == "RoundTrip" || called.Sel.Name == "Do")
				return true
			})
			if !sends {
				t.Errorf("%s: RoundTrip sends no request", path)
			}
		}
		return nil
	}
	for _, root := range []string{"..", "../../core", "../../providers"} {
		if err := filepath.WalkDir(root, check); err != nil && !errors.Is(err, fs.ErrNotExist) { // core is another module
			t.Fatal(err)
		}
	}
	if found < 2 {
		t.Errorf("found %d transports", found)
	}
}

// TestRedeemForSeveral: the values of one user are in no other user's form, whatever they contain.
func TestRedeemForSeveral(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.answers["/token"], p.answers["/elsewhere"] = answer{body: good}, answer{body: good}
	config := p.config()
	config.Token.Params = url.Values{"resource": {"of {code}"}}
	client := oauth.New(config)
	here := endpoints(t, client)
	config.Token.URL = p.URL + "/elsewhere"
	elsewhere := endpoints(t, oauth.New(config))
	const home, other = "https://app.example/callback", "https://other.example/callback"
	for _, row := range []struct {
		name, code, verifier, redirectURI string
		at                                oauth.Endpoints
		path                              string
	}{
		{"the first", "code-1", "verifier-1", home, here, "/token"},
		{"another visitor", "code-2", "verifier-2", home, here, "/token"},
		{"without a verifier", "code-3", "", home, here, "/token"},
		{"with one again", "code-4", "verifier-4", home, here, "/token"},
		{"on another host", "code-5", "verifier-5", other, here, "/token"},
		{"at another endpoint", "code-6", "verifier-6", other, elsewhere, "/elsewhere"},
		{"a code to be escaped", "a b&code=c+%d", "verifier-7", home, here, "/token"},
		{"a code that reads like a mark", "\x00verifier\x00 %00value%00 \x00value\x00", "verifier-8", home, here, "/token"},
	} {
		t.Run(row.name, func(t *testing.T) {
			code := accepted(t, client, row.at, row.code)
			if _, err := client.Redeem(t.Context(), row.at, code, row.verifier, row.redirectURI); err != nil {
				t.Fatal(err)
			}
			want := url.Values{
				"grant_type": {"authorization_code"}, "code": {row.code}, "redirect_uri": {row.redirectURI},
				"resource": {"of " + row.code},
			}
			if row.verifier != "" {
				want.Set("code_verifier", row.verifier)
			}
			if got := p.last(t); got.form.Encode() != want.Encode() || got.path != row.path || got.authorization == "" {
				t.Errorf("asked %s\ngot  %s\nwant %s", got.path, got.form.Encode(), want.Encode())
			}
			if _, err := client.Refresh(t.Context(), row.at, row.code); err != nil {
				t.Fatal(err)
			}
			if form := p.last(t).form; form.Get("refresh_token") != row.code || len(form) != 2 {
				t.Errorf("refreshed with %v", form)
			}
		})
	}
}

// TestAssertionsAreNew: if the client authenticates with an assertion, each request has a new one.
func TestAssertionsAreNew(t *testing.T) {
	t.Parallel()
	made := 0
	next := func() (string, error) { made++; return "made-" + strconv.Itoa(made), nil }
	for name, row := range map[string]struct {
		change func(*oauth.Config)
		field  string
	}{
		"a secret":     {func(c *oauth.Config) { c.ClientSecret, c.MakeClientSecret = "", next }, "client_secret"},
		"an assertion": {func(c *oauth.Config) { c.ClientAuth, c.NewID = oauth.ClientSecretJWT, next }, "client_assertion"},
	} {
		p := newProvider(t)
		p.answers["/token"] = answer{body: good}
		config := p.config()
		config.ClientAuth = oauth.ClientSecretPost
		row.change(&config)
		client := oauth.New(config)
		proofs := map[string]bool{}
		for range 3 {
			if _, err := redeem(t, client); err != nil {
				t.Fatal(name, err)
			}
			proofs[p.last(t).form.Get(row.field)] = true
		}
		if len(proofs) != 3 || proofs[""] {
			t.Errorf("%s: three requests have %d: %v", name, len(proofs), proofs)
		}
	}
}

// TestRedeemConcurrently: concurrent sign-ins send their own code and verifier.
func TestRedeemConcurrently(t *testing.T) {
	t.Parallel()
	p := newProvider(t)
	p.answers["/token"] = answer{body: good}
	client := oauth.New(p.config())
	at := endpoints(t, client)
	const visitors = 16
	var all sync.WaitGroup
	for i := range visitors {
		name := strconv.Itoa(i)
		code := accepted(t, client, at, "code-"+name)
		all.Go(func() {
			if _, err := client.Redeem(t.Context(), at, code, "verifier-"+name, "https://app.example/callback"); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	sent := map[string]string{}
	for _, a := range p.asked {
		sent[a.form.Get("code")] = a.form.Get("code_verifier")
	}
	for i := range visitors {
		if name := strconv.Itoa(i); sent["code-"+name] != "verifier-"+name {
			t.Errorf("code-%s was sent with %q", name, sent["code-"+name])
		}
	}
}
