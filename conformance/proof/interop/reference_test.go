package interop_test

import (
	"encoding/json"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/rig/engines"
)

// reference starts the Auth.js application until the test ends, and returns its address.
func reference(t *testing.T, settings map[string]any) (address string) {
	t.Helper()
	raw, err := json.Marshal(settings)
	if err != nil {
		t.Fatal(err)
	}
	return engines.Node(t, "reference/server.mjs", string(raw))
}
