package authhttp_test

import (
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// A page for signed-in users. Without a session, a program gets 401, and a browser is redirected to the sign-in page.
func Example() {
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a secret of the example, 32 bytes or more"},
		URL:     "http://example.com",
		Providers: []core.Provider{&core.OAuthProvider{ // for example providers.GitHub()
			ID: "acme", Type: core.TypeOIDC, Issuer: "https://login.acme.example", ClientID: "id", ClientSecret: "secret",
		}},
	})
	if err != nil {
		log.Fatal(err)
	}
	mux, a := http.NewServeMux(), authhttp.New(auth)
	a.Mount(mux) // sign-in page, callbacks and the rest, under /auth
	mux.Handle("GET /members", a.RequireSession(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, _ := authhttp.Session(r) // RequireSession has already read it
		_, _ = fmt.Fprintf(w, "Hello, %s", session.User.Name)
	})))

	answer := httptest.NewRecorder()
	mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/members", nil))
	fmt.Println(answer.Code, answer.Header().Get("WWW-Authenticate"))
	// Output: 401 Bearer realm="http://example.com"
}
