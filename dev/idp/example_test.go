package idp_test

import (
	"fmt"
	"strings"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/idp"
	"github.com/latchkey-go/latchkey/providers"
)

// An application in development signs users in without a network. Its developer picks or types a user.
func Example() {
	server, err := idp.Start(idp.Options{RedirectURIs: []string{"http://localhost:3000/auth/callback/dev"}})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = server.Close() }()
	auth, err := core.New(core.Config{
		URL: "http://localhost:3000", Secrets: []core.Secret{"a secret of the example, of 32 bytes or more"},
		Providers: []core.Provider{providers.OIDC("dev", server.Issuer(), providers.Options{
			ClientID: server.ClientID(), ClientSecret: core.Secret(server.ClientSecret()),
		})},
	})
	fmt.Println(auth.BasePath(), strings.HasPrefix(server.Issuer(), "http://"), err)
	// Output: /auth true <nil>
}
