package tokensource

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
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
