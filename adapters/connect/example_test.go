package authconnect_test

import (
	"context"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"

	"connectrpc.com/connect"
	"google.golang.org/protobuf/types/known/wrapperspb"

	authconnect "github.com/latchkey-go/latchkey/adapters/connect"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/access"
)

// A procedure for signed-in users. The handlers of a program are those of its generated code.
func Example() {
	const procedure = "/greet.v1.Greeter/Greet"
	auth, err := core.New(core.Config{
		Secrets: []core.Secret{"a secret of the example, 32 bytes or more"}, URL: "http://example.com",
	})
	if err != nil {
		log.Fatal(err)
	}
	a, err := authconnect.New(auth, access.Options{Rules: map[string]access.Rule{procedure: access.Session()}})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.Handle(procedure, a.Handler(connect.NewUnaryHandler(procedure,
		func(ctx context.Context, _ *connect.Request[text]) (*connect.Response[text], error) {
			session, _ := core.SessionFrom(ctx) // the rule has already read it
			return connect.NewResponse(wrapperspb.String("Hello, " + session.User.Name)), nil
		}, connect.WithInterceptors(a))))
	server := httptest.NewServer(mux)
	defer server.Close()

	client := connect.NewClient[text, text](server.Client(), server.URL+procedure)
	_, err = client.CallUnary(context.Background(), connect.NewRequest(wrapperspb.String("")))
	fmt.Println(err)
	// Output: unauthenticated: Sign in first.
}
