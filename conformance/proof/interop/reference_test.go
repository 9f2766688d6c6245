package interop_test

import (
	"encoding/json"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
)

// reference starts Auth.js's application and returns its address. It ends with the test.
func reference(t *testing.T, settings map[string]any) (address string) {
	t.Helper()
	raw, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	return engines.Node(t, "reference/server.mjs", string(raw))
}
