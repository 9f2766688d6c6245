package core_test

import (
	"crypto/elliptic"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

func TestParseClientKey(t *testing.T) {
	t.Parallel()
	_, text := pemKey(t, elliptic.P256())
	if key, _, err := core.ParseClientKey(text); err != nil || key == nil {
		t.Errorf("key %v, error %v", key != nil, err)
	}
	if _, _, err := core.ParseClientKey("canary"); err == nil || strings.Contains(err.Error(), "canary") {
		t.Errorf("got %v", err)
	}
	path := filepath.Join(t.TempDir(), "key.pem")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, env := range map[string]map[string]string{
		"text in the environment": {"AUTH_OP_PRIVATE_KEY": string(text)},
		"file in the environment": {"AUTH_OP_PRIVATE_KEY_FILE": path},
		"no key":                  {},
		"no such file":            {"AUTH_OP_PRIVATE_KEY_FILE": path + ".gone"},
	} {
		_, err := core.New(core.Config{
			Secrets: []core.Secret{testSecret}, URL: "https://app.test", Getenv: func(name string) string { return env[name] },
			Providers: []core.Provider{&core.OAuthProvider{
				ID: "op", Type: core.TypeOIDC, Issuer: "https://op.example", ClientID: "id", ClientAuth: core.PrivateKeyJWT,
			}},
		})
		if good := strings.HasSuffix(name, "environment"); (err == nil) != good ||
			err != nil && !strings.Contains(err.Error(), "client key") && !strings.Contains(err.Error(), "AUTH_OP_PRIVATE_KEY") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
