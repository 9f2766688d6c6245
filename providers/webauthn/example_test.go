package webauthn_test

import (
	"fmt"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers/webauthn"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// Passkeys require a store with authenticators, and the public URL.
func Example() {
	_, err := core.New(core.Config{
		Secrets: []core.Secret{"a secret of the example, 32 bytes or more"}, URL: "https://app.example",
		Store: memory.New(), Providers: []core.Provider{webauthn.Passkey()}, EnableWebAuthn: true,
	})
	fmt.Println(err)
	// Output: <nil>
}
