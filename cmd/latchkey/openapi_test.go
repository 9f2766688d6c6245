package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
)

// document returns the document that the command prints.
func document(t *testing.T) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := run(t.Context(), []string{"openapi"}, &out, nil); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// TestOpenAPI: each action of our plugins describes itself, and no schema is an object without members.
func TestOpenAPI(t *testing.T) {
	t.Parallel()
	auth, err := everything()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range auth.Routes() {
		if r.Plugin != "" && !strings.HasPrefix(r.Path, "/.well-known/") && (r.Summary == "" || r.Input == nil) {
			t.Errorf("%s %s of %s: Action.Summary or Input is missing", r.Method, r.Path, r.Plugin)
		}
	}
	var all any
	if err := json.Unmarshal(document(t), &all); err != nil {
		t.Fatal(err)
	}
	checkObjects(t, "", all)
	text := string(document(t))
	// The responses of webauthn-options.
	for _, schema := range []string{"PasskeyAuthenticationResponse", "PasskeyRegistrationResponse"} {
		if !strings.Contains(text, `"$ref": "#/components/schemas/`+schema+`"`) {
			t.Errorf("no operation has the response %s", schema)
		}
	}
}

// checkObjects finds schemas of objects without members.
func checkObjects(t *testing.T, at string, value any) {
	t.Helper()
	switch value := value.(type) {
	case map[string]any:
		properties, _ := value["properties"].(map[string]any)
		_, further := value["additionalProperties"].(map[string]any)
		if value["type"] == "object" && len(properties) == 0 && !further {
			t.Errorf("%s is an object without members", at)
		}
		for name, each := range value {
			checkObjects(t, at+"/"+name, each)
		}
	case []any:
		for _, each := range value {
			checkObjects(t, at, each)
		}
	}
}

// TestOpenAPITools checks the document with a linter, and compiles a program with the types that a generator makes of
// it.
func TestOpenAPITools(t *testing.T) {
	t.Parallel()
	const tools = "testdata/openapi"
	engines.Packages(t, tools)
	dir := t.TempDir()
	client, err := os.ReadFile(filepath.Join(tools, "client.ts"))
	if err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string][]byte{"openapi.json": document(t), "client.ts": client} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range [][]string{
		{"redocly", "lint", "--config", "redocly.yaml", filepath.Join(dir, "openapi.json")},
		{"openapi-typescript", filepath.Join(dir, "openapi.json"), "-o", filepath.Join(dir, "api.d.ts")},
		{"tsc", "--noEmit", "--strict", "--target", "es2022", "--module", "esnext", "--moduleResolution", "bundler",
			"--lib", "es2022,dom", filepath.Join(dir, "client.ts")},
	} {
		command := exec.CommandContext(t.Context(), filepath.Join("node_modules", ".bin", step[0]), step[1:]...)
		command.Dir = tools
		command.Env = append(os.Environ(), "REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true")
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", step[0], err, out)
		}
	}
}
