package openapi_test

import (
	"os"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/openapi"
)

func TestDocument(t *testing.T) {
	auth, err := core.New(core.Config{
		URL: "https://app.test", Secrets: []core.Secret{"a-secret-of-more-than-thirty-two-bytes"},
		Getenv: func(string) string { return "" }, Plugins: []core.Plugin{openapi.New(openapi.Options{})},
	})
	if err != nil {
		t.Fatal(err)
	}
	body, err := openapi.Document(auth, openapi.Options{})
	if err != nil {
		t.Fatal(err)
	}
	os.WriteFile("/tmp/openapi.json", body, 0o644)
}
