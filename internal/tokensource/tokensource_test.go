package tokensource

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/internal/cookie"
)

// TestSecrets reads the secrets in the environment, the newest first.
func TestSecrets(t *testing.T) {
	t.Parallel()
	set := map[string]string{"AUTH_SECRET": "a", "AUTH_SECRET_1": "b", "AUTH_SECRET_3": "c"}
	got := Secrets[string](func(name string) string { return set[name] })
	if !slices.Equal(got, []string{"c", "b", "a"}) {
		t.Errorf("read %q", got)
	}
}

// TestAudiences checks that secrets and cookie names of different audiences differ, and that those without an audience
// are the ones of Auth.js.
func TestAudiences(t *testing.T) {
	t.Parallel()
	if BindSecret("", "s") != "s" || CookieFamily("") != "authjs." {
		t.Error("no audience changes the secret or the names")
	}
	secrets, names := map[string]bool{}, map[string]bool{}
	for _, audience := range []string{"", "a", "b"} {
		secrets[BindSecret(audience, "s")], names[CookieFamily(audience)] = true, true
	}
	if len(secrets) != 3 || len(names) != 3 {
		t.Errorf("secrets %v, names %v", secrets, names)
	}
}

// TestHeaders reads Authorization headers by both rules: Bearer for Session.Bearer, and Single as Auth.js's getToken.
func TestHeaders(t *testing.T) {
	t.Parallel()
	for _, row := range []struct {
		name      string
		lines     []string
		bearer    string
		presented bool
		single    string
	}{
		{"none", nil, "", false, ""},
		{"a token", []string{"Bearer a.b%2Bc"}, "a.b+c", true, "a.b+c"},
		{"lower case", []string{"bearer a"}, "a", true, ""},
		{"two headers", []string{"Bearer a", "Bearer a"}, "", true, ""},
		{"a malformed token", []string{"Bearer a b"}, "", true, "a b"},
		{"another character", []string{"Bearer a;b"}, "", true, "a;b"},
		{"broken encoding", []string{"Bearer %zz"}, "", true, ""},
		{"no token", []string{"Bearer "}, "", true, ""},
		{"another scheme", []string{"Basic a"}, "", false, ""},
		{"a scheme that begins with Bearer", []string{"Bearers a"}, "", false, ""},
		{"a long token", []string{"Bearer " + strings.Repeat("a", cookie.MaxHeaderBytes+1)}, "", true,
			strings.Repeat("a", cookie.MaxHeaderBytes+1)},
	} {
		h := http.Header{"Authorization": row.lines}
		token, presented, err := Bearer(h)
		if token != row.bearer || presented != row.presented || (err != nil) != (presented && token == "") {
			t.Errorf("%s: Bearer returns %.20q, %v, %v", row.name, token, presented, err)
		}
		if token, err := Single(h); token != row.single || (err != nil) != (token == "") {
			t.Errorf("%s: Single returns %.20q, %v", row.name, token, err)
		}
	}
}

// FuzzBearer reads an Authorization header like net/url, or rejects it.
func FuzzBearer(f *testing.F) {
	for _, value := range []string{"Bearer x", "bearer x", "Bearer  x", "Bearer %", "Bearer a%2Bb+c", "Basic", "Bearer "} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		token, err := Single(http.Header{"Authorization": {value}})
		if err != nil {
			return
		}
		rest, ok := strings.CutPrefix(value, "Bearer ")
		if want, err := url.PathUnescape(rest); !ok || err != nil || want != token || rest == "" {
			t.Fatalf("%q is read as %q", value, token)
		}
	})
}

// TestFind reads the first header that has a token of a form, and skips the others.
func TestFind(t *testing.T) {
	t.Parallel()
	key := func(token string) bool { return token == "" || strings.HasPrefix(token, "key") }
	for name, row := range map[string]struct {
		lines []string
		found string
	}{
		"none":            {nil, ""},
		"another form":    {[]string{"Bearer a"}, ""},
		"another scheme":  {[]string{"Basic key"}, ""},
		"a broken header": {[]string{"Bearer key%zz"}, ""},
		"the second":      {[]string{"Bearer ", "Bearer a", "Bearer key1", "Bearer key2"}, "key1"},
	} {
		if found := Find(http.Header{"Authorization": row.lines}, key); found != row.found {
			t.Errorf("%s: %q", name, found)
		}
	}
}

// TestSources reads the token of a request from its cookies and its header.
func TestSources(t *testing.T) {
	t.Parallel()
	errInvalid, errUnknown := errors.New("invalid"), errors.New("unknown")
	open := func(_ context.Context, token string) (string, error) {
		switch {
		case strings.HasPrefix(token, "valid"):
			return token, nil
		case token == "unknown":
			return "", errUnknown
		}
		return "", errInvalid
	}
	for name, row := range map[string]struct {
		cookies, header string
		headerFirst     bool
		raw, content    string
		err             error
	}{
		"a cookie":                        {"a=valid1", "", false, "valid1", "valid1", nil},
		"the second cookie":               {"b=valid2", "", false, "valid2", "valid2", nil},
		"the first valid cookie":          {"a=x; b=valid2", "", false, "x", "valid2", nil},
		"a final error":                   {"a=unknown; b=valid2", "", false, "unknown", "", errUnknown},
		"a header":                        {"", "Bearer valid3", false, "valid3", "valid3", nil},
		"a cookie before the header":      {"a=valid1", "Bearer valid3", false, "valid1", "valid1", nil},
		"an invalid cookie and a header":  {"a=x", "Bearer valid3", false, "x", "", errInvalid},
		"the header first":                {"a=valid1", "Bearer valid3", true, "valid3", "valid3", nil},
		"an invalid header first":         {"a=valid1", "Bearer x", true, "x", "", errInvalid},
		"a malformed header first":        {"a=valid1", "Bearer x y", true, "", "", errBearerForm},
		"another scheme with a cookie":    {"a=valid1", "Basic x", true, "valid1", "valid1", nil},
		"nothing":                         {"", "", true, "", "", errNoToken},
		"another scheme without a cookie": {"", "Basic x", false, "", "", errNoBearer},
	} {
		s := Sources[string]{Cookies: []Cookie[string]{{"a", open}, {"b", open}}, HeaderFirst: row.headerFirst}
		h := http.Header{"Cookie": {row.cookies}}
		if row.header != "" {
			h["Authorization"] = []string{row.header}
		}
		if raw := s.Raw(h); raw != row.raw {
			t.Errorf("%s: Raw returns %q", name, raw)
		}
		content, err := s.Read(t.Context(), h, func(err error) bool { return errors.Is(err, errUnknown) })
		if content != row.content || !errors.Is(err, row.err) {
			t.Errorf("%s: Read returns %q, %v", name, content, err)
		}
	}
}
