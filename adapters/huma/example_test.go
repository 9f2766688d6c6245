package authhuma_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"

	authhuma "github.com/latchkey-go/latchkey/adapters/huma"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/access"
)

// An API for signed-in users with a public operation.
func Example() {
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a secret of the example, 32 bytes or more"}, URL: "http://example.com",
	})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	api := humago.New(mux, huma.DefaultConfig("Orders", "1.0.0"))
	if err := authhuma.Protect(api, auth, access.Session()); err != nil {
		log.Fatal(err)
	}
	empty := func(context.Context, *struct{}) (*struct{}, error) { return nil, nil }
	huma.Get(api, "/orders", empty)
	huma.Get(api, "/prices", empty, authhuma.Rule(access.Public()))

	for _, path := range []string{"/orders", "/prices"} {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, path, nil))
		fmt.Println(path, answer.Code)
	}
	// Output:
	// /orders 401
	// /prices 204
}
