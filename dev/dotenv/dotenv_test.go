package dotenv_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/dev/dotenv"
)

// TestLoad checks the AUTH_SECRET that results from a file and an environment.
func TestLoad(t *testing.T) {
	const file = "# a comment\n\nexport AUTH_SECRET='of the file'\r\nADMIN_EMAIL = \"ada@example.com\"\n"
	for _, row := range []struct {
		name, file   string
		env          map[string]string
		want, failed string
	}{
		{"a file", file, nil, "of the file", ""},
		{"no file", "", nil, "", ""},
		{"the environment wins", file, map[string]string{"AUTH_SECRET": "set"}, "set", ""},
		{"an empty variable wins too", file, map[string]string{"AUTH_SECRET": ""}, "", ""},
		{"localhost", file, map[string]string{"AUTH_URL": "http://localhost:5173"}, "of the file", ""},
		{"a name below localhost", file, map[string]string{"AUTH_URL": "http://app.localhost:3000"}, "of the file", ""},
		{"loopback", file, map[string]string{"AUTH_URL": "http://[::1]:3000/auth"}, "of the file", ""},
		{"an equals sign in the value", "AUTH_SECRET=a=b=\n", nil, "a=b=", ""},
		{"no host is trusted", "AUTH_TRUST_HOST=false\nAUTH_SECRET=x\n", nil, "x", ""},

		{"production", file, map[string]string{"AUTH_URL": "https://app.example"}, "", ""},
		{"production, by the old name", file, map[string]string{"NEXTAUTH_URL": "https://app.example"}, "", ""},
		{"production, any host", file, map[string]string{"AUTH_TRUST_HOST": "true"}, "", ""},
		{"a platform", file, map[string]string{"VERCEL": "1"}, "", ""},
		{"production, an address that is none", file, map[string]string{"AUTH_URL": "https://[app.example"}, "", ""},
		{"a look-alike", file, map[string]string{"AUTH_URL": "https://localhost.evil.example"}, "", ""},
		{"an address of the network", file, map[string]string{"AUTH_URL": "http://192.168.0.7:3000"}, "", ""},

		{"a file of production", "AUTH_URL=https://app.example\nAUTH_SECRET=canary\n", nil, "", "for development"},
		{"no variable", file + "canary\n", nil, "", ".env:5: write NAME=value"},
		{"a name with spaces", "my canary=1\n", nil, "", ".env:1: write NAME=value"},
	} {
		t.Run(row.name, func(t *testing.T) {
			for _, name := range []string{"AUTH_SECRET", "ADMIN_EMAIL", "AUTH_URL", "NEXTAUTH_URL", "AUTH_TRUST_HOST",
				"VERCEL"} {
				t.Setenv(name, "") // restored after the test
				if err := os.Unsetenv(name); err != nil {
					t.Fatal(err)
				}
			}
			for name, value := range row.env {
				t.Setenv(name, value)
			}
			path := filepath.Join(t.TempDir(), ".env")
			if row.file != "" {
				if err := os.WriteFile(path, []byte(row.file), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			err := dotenv.Load(path)
			if (err != nil) != (row.failed != "") || err != nil && !strings.Contains(err.Error(), row.failed) {
				t.Errorf("%v, want %q", err, row.failed)
			}
			if err != nil && strings.Contains(err.Error(), "canary") {
				t.Errorf("the error shows a value: %v", err)
			}
			if got := os.Getenv("AUTH_SECRET"); got != row.want {
				t.Errorf("AUTH_SECRET is %q, want %q", got, row.want)
			}
		})
	}
}
