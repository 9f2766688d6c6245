package providers_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"io"
	"math/big"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// answers is a transport that responds by path.
type answers map[string]string

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	body, ok := a[r.URL.Path]
	status := http.StatusOK
	if !ok || r.Header.Get("Authorization") != "Bearer at-1" {
		status = http.StatusForbidden
	}
	return &http.Response{
		StatusCode: status, Body: io.NopCloser(strings.NewReader(body)), Header: http.Header{}, Request: r,
	}, nil
}

func TestGitHub(t *testing.T) {
	for _, row := range []struct {
		name    string
		answers answers
		want    core.Person
		fails   bool
	}{
		{"public address",
			answers{"/user": `{"id":9007199254740993,"login":"ada","name":"Ada","email":"ada@example.com",` +
				`"avatar_url":"https://img.example/a"}`},
			core.Person{AccountID: "9007199254740993", Name: "Ada", Email: "ada@example.com", Image: "https://img.example/a"},
			false},
		{"no name: the login",
			answers{"/user": `{"id":1,"login":"ada","name":null,"email":"ada@example.com"}`},
			core.Person{AccountID: "1", Name: "ada", Email: "ada@example.com"},
			false},
		{"primary verified address",
			answers{"/user": `{"id":1,"login":"ada"}`,
				"/user/emails": `[{"email":"old@example.com","primary":false,"verified":true},` +
					`{"email":"ada@example.com","primary":true,"verified":true}]`},
			core.Person{AccountID: "1", Name: "ada", Email: "ada@example.com"},
			false},
		{"primary address that is not verified",
			answers{"/user": `{"id":1,"login":"ada"}`,
				"/user/emails": `[{"email":"ada@example.com","primary":true,"verified":false}]`},
			core.Person{AccountID: "1", Name: "ada"},
			false},
		{"no list of addresses", answers{"/user": `{"id":1,"login":"ada"}`}, core.Person{AccountID: "1", Name: "ada"}, false},
		{"refused", answers{}, core.Person{}, true},
	} {
		t.Run(row.name, func(t *testing.T) {
			p := providers.GitHub()
			tokens := &core.TokenSet{AccessToken: "at-1", Client: &http.Client{Transport: row.answers}}
			profile, err := p.FetchUserinfo(t.Context(), &core.UserinfoRequest{Tokens: tokens, URL: p.Userinfo.URL})
			if err != nil || row.fails {
				if (err != nil) != row.fails {
					t.Errorf("error %v", err)
				}
				return
			}
			got, err := p.Profile(t.Context(), profile, tokens)
			if err != nil {
				t.Fatal(err)
			}
			if got.AccountID != row.want.AccountID || got.Name != row.want.Name ||
				got.Email != row.want.Email || got.Image != row.want.Image {
				t.Errorf("got %s, %s, %s, %s", got.AccountID, got.Name, got.Email, got.Image)
			}
		})
	}
}

// TestEveryProviderStarts: a provider needs only two environment variables, and a third for self-hosted services.
func TestEveryProviderStarts(t *testing.T) {
	all := []*core.OAuthProvider{
		providers.OIDC("my-op", "https://op.example"),
		providers.NetSuite("1234567-SB1", "https://x.example/restlet"),
		providers.WeChatWebsite(providers.Options{ID: "wechat-web"}),
	}
	for _, e := range providers.All() {
		if e.ID != "netsuite" {
			all = append(all, e.New())
		}
	}
	if len(all) != 95 {
		t.Errorf("%d providers", len(all))
	}
	for _, p := range all {
		t.Run(p.ID, func(t *testing.T) {
			env := map[string]string{"AUTH_SECRET": "a-secret-of-more-than-thirty-two-bytes", "AUTH_URL": "https://app.example"}
			for _, name := range providers.Variables(p) {
				env[name] = "value"
				if strings.HasSuffix(name, "_ISSUER") {
					env[name] = "https://issuer.example"
				}
			}
			_, err := core.New(core.Config{Providers: []core.Provider{p}, Getenv: func(name string) string { return env[name] }})
			if err != nil {
				t.Error(err)
			}
		})
	}
}

// TestHooks checks the userinfo functions with unusual responses.
func TestHooks(t *testing.T) {
	const broken = `{"error":"x"}`
	for _, row := range []struct {
		id, path, answer string
		extra            core.Members
		want             string // the ID, or "" for an error
	}{
		{"notion", "/v1/users/me", `{"bot":{"owner":{"type":"user","user":{"id":"u1"}}}}`, nil, "u1"},
		{"notion", "/v1/users/me", `{"bot":{"owner":{"type":"workspace","workspace":true}}}`, nil, ""},
		{"vk", "/method/users.get", `{"response":[{"id":7,"first_name":"A"}]}`,
			core.Members{"email": []byte(`"a@example.com"`)}, "7"},
		{"vk", "/method/users.get", `{"error":{"error_code":5}}`, nil, ""},
		{"vk", "/method/users.get", `{"response":["x"]}`, nil, ""},
		{"nextcloud", "/ocs/v1.php/cloud/users/jane%20doe", `{"ocs":{"data":{"id":"jane doe"}}}`,
			core.Members{"user_id": []byte(`"jane doe"`)}, "jane doe"},
		{"nextcloud", "/ocs/v1.php/cloud/users/", `{"ocs":{"data":{"id":"all"}}}`, nil, ""},
		{"nextcloud", "/ocs/v1.php/cloud/users/x", `{"ocs":{"meta":{}}}`, core.Members{"user_id": []byte(`"x"`)}, ""},
		{"todoist", "/api/v1/sync", `{"user":{"id":"t1"}}`, nil, "t1"},
		{"todoist", "/api/v1/sync", broken, nil, ""},
		{"wechat", "/sns/userinfo", `{"openid":"o1","nickname":"A"}`, core.Members{"openid": []byte(`"o1"`)}, "o1"},
		{"wechat", "/sns/userinfo", `{"errcode":40003,"errmsg":"invalid openid"}`, nil, ""},
		{"hubspot", "/oauth/v1/access-tokens/at-1", `{"user_id":5,"user":"a@example.com"}`, nil, "5"},
		{"foursquare", "/v2/users/self", `{"response":{"user":{"id":"4"}}}`, nil, "4"},
		{"dropbox", "/2/users/get_current_account", `{"account_id":"d"}`, nil, "d"},
		{"trakt", "/users/me", `{"ids":{"slug":"s"}}`, nil, "s"},
		{"bungie", "/Platform/User/GetMembershipsForCurrentUser/", `{"Response":{"bungieNetUser":{"membershipId":"9"}}}`,
			nil, "9"},
	} {
		t.Run(row.id+" "+row.answer, func(t *testing.T) {
			p, _ := providers.ByID(row.id, providers.Options{ClientID: "id", BaseURL: "https://cloud.example"})
			client := &http.Client{Transport: roundTrip(func(r *http.Request) string {
				if r.URL.EscapedPath() != row.path {
					t.Errorf("asked for %s", r.URL.EscapedPath())
				}
				return row.answer
			})}
			tokens := &core.TokenSet{AccessToken: "at-1", Provider: p, Client: client, Extra: row.extra}
			address := strings.Replace(p.Userinfo.URL, "{base}", p.BaseURL, 1)
			profile, err := p.FetchUserinfo(t.Context(), &core.UserinfoRequest{Tokens: tokens, URL: address})
			id := ""
			if err == nil && profile != nil {
				user, mapErr := p.Profile(t.Context(), profile, tokens)
				if mapErr != nil {
					t.Fatal(mapErr)
				}
				id = user.AccountID
			}
			if id != row.want {
				t.Errorf("got %q, want %q: %v", id, row.want, err)
			}
		})
	}
}

type roundTrip func(*http.Request) string

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: 200, Body: io.NopCloser(strings.NewReader(f(r))), Header: http.Header{}, Request: r,
	}, nil
}

// TestAppleSecret creates a client secret and verifies it with the public key.
func TestAppleSecret(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	file := core.Secret(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
	p := providers.AppleWithKey(providers.AppleKey{TeamID: "team", KeyID: "key", Key: file})
	if p.Fault != nil {
		t.Fatal(p.Fault)
	}
	secret, err := p.MakeClientSecret("com.example.app", time.Unix(1_900_000_000, 0))
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(string(secret), ".")
	signature, err := base64.RawURLEncoding.DecodeString(parts[2])
	if err != nil || len(signature) != 64 {
		t.Fatalf("signature of %d bytes, %v", len(signature), err)
	}
	digest := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	r, s := new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])
	if !ecdsa.Verify(&key.PublicKey, digest[:], r, s) {
		t.Error("the signature does not verify")
	}
	for i, want := range []string{
		`{"alg":"ES256","kid":"key"}`,
		`{"aud":"https://appleid.apple.com","exp":1900000300,"iat":1900000000,"iss":"team","sub":"com.example.app"}`,
	} {
		if part, _ := base64.RawURLEncoding.DecodeString(parts[i]); string(part) != want {
			t.Errorf("part %d is %s, want %s", i, part, want)
		}
	}
	const noKey = "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"
	for name, key := range map[string]providers.AppleKey{
		"nothing": {}, "no key": {TeamID: "team", KeyID: "key"}, "no PEM": {TeamID: "team", KeyID: "key", Key: "x"},
		"no key in PEM": {TeamID: "team", KeyID: "key", Key: noKey},
		"no team":       {KeyID: "key", Key: file}, "no key id": {TeamID: "team", Key: file},
	} {
		_, err := core.New(core.Config{
			Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"}, URL: "https://app.test",
			Providers: []core.Provider{providers.AppleWithKey(key, providers.Options{ClientID: "com.example.app"})},
		})
		if err == nil || !strings.Contains(err.Error(), "AppleKey") {
			t.Errorf("%s: New reports %v", name, err)
		}
	}
}

// TestTyped maps with a struct of the application.
func TestTyped(t *testing.T) {
	type profile struct {
		Login string `json:"login"`
		Count int64  `json:"count"`
	}
	p := providers.GitHub(providers.Options{Profile: providers.Typed(func(p profile) (*core.Person, error) {
		return &core.Person{AccountID: strconv.FormatInt(p.Count, 10), Name: p.Login}, nil
	})})
	answer := core.Profile{"login": "ada", "LOGIN": "eve", "count": json.Number("9007199254740993")}
	u, err := p.Profile(t.Context(), answer, nil)
	if err != nil || u.AccountID != "9007199254740993" || u.Name != "ada" {
		t.Errorf("got %v, %v", u, err)
	}
}

// TestCommas: some services separate scopes by commas and would read a space as a part of a name.
func TestCommas(t *testing.T) {
	t.Parallel()
	for id, want := range map[string]string{
		"strava": "read,a:b,c", "tiktok": "user.info.basic,a:b,c", "todoist": "data:read,a:b,c",
		"pinterest": "user_accounts:read,a:b,c", "concept2": "user:read,results:write,a:b,c", "kakao": "a:b,c",
		"zoho": "AaaServer.profile.Read,a:b,c", "medium": "basicProfile,a:b,c", "wechat": "snsapi_userinfo,a:b,c",
		"instagram": "user_profile,a:b,c", "threads": "threads_basic,a:b,c", "vk": "email,a:b,c",
		"github": "read:user user:email a:b c", "google": "openid profile email a:b c",
	} {
		p, _ := providers.ByID(id, providers.Options{AddScope: "a:b c"})
		if p.Scope != want {
			t.Errorf("%s: scope %q", id, p.Scope)
		}
	}
	if p := providers.Strava(providers.Options{Scope: "read activity:read"}); p.Scope != "read,activity:read" {
		t.Errorf("scope %q", p.Scope)
	}
	if p := providers.Kakao(); p.Scope != core.NoScope {
		t.Errorf("scope %q", p.Scope)
	}
}

func TestOptions(t *testing.T) {
	p := providers.Google(providers.Options{
		ID: "work", Name: "Work", ClientID: "id", Scope: "openid",
		AuthorizationParams: map[string][]string{"hd": {"example.com"}},
	})
	if p.ID != "work" || p.Name != "Work" || p.ClientID != "id" || p.Scope != "openid" ||
		p.Authorization.Params.Get("hd") != "example.com" || p.Issuer != "https://accounts.google.com" {
		t.Errorf("got %+v", p.ID)
	}
}
