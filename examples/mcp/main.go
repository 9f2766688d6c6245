// The mcp example: a client of the MCP server in examples/orders. It signs its user in with the browser and calls a
// tool.
//
//	go run ./examples/orders  # the server, in another terminal
//	go run ./examples/mcp
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

func main() {
	server := flag.String("server", "http://localhost:3000/mcp", "URL of the MCP server")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	err := run(ctx, *server, os.Stdout, func(address string) error {
		_, err := fmt.Println("Open this page in a browser on this computer:\n" + address)
		return err
	})
	if err != nil {
		log.Fatal(err)
	}
}

// run calls the tool and prints its result. open shows the user the page for the sign-in.
func run(ctx context.Context, server string, out io.Writer, open func(url string) error) error {
	browser, err := listen(ctx, open)
	if err != nil {
		return err
	}
	defer browser.close()
	handler, err := auth.NewAuthorizationCodeHandler(&auth.AuthorizationCodeHandlerConfig{
		PreregisteredClient: &oauthex.ClientCredentials{ClientID: "orders-mcp"},
		RedirectURL:         browser.redirect, AuthorizationCodeFetcher: browser.fetch,
	})
	if err != nil {
		return err
	}
	client := mcp.NewClient(&mcp.Implementation{Name: "example", Version: "1.0.0"}, nil)
	session, err := client.Connect(ctx, &mcp.StreamableClientTransport{Endpoint: server, OAuthHandler: handler}, nil)
	if err != nil {
		return err
	}
	defer func() { _ = session.Close() }()
	result, err := session.CallTool(ctx, &mcp.CallToolParams{Name: "list_orders"})
	switch {
	case err != nil:
		return err
	case len(result.Content) == 0 || result.IsError:
		return errors.New("the tool failed")
	}
	text, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		return fmt.Errorf("the tool returns %T", result.Content[0])
	}
	_, err = fmt.Fprintln(out, text.Text)
	return err
}

// receiver is the port that the browser returns to.
type receiver struct {
	redirect string
	open     func(url string) error
	results  chan *auth.AuthorizationResult
	server   *http.Server
}

func listen(ctx context.Context, open func(url string) error) (*receiver, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r := &receiver{
		redirect: fmt.Sprintf("http://%s/callback", listener.Addr()), open: open,
		results: make(chan *auth.AuthorizationResult, 1),
	}
	r.server = &http.Server{Handler: r, ReadHeaderTimeout: 5 * time.Second}
	go func() { _ = r.server.Serve(listener) }()
	return r, nil
}

func (r *receiver) close() { _ = r.server.Close() }

// ServeHTTP is called by the browser. The SDK checks state and issuer.
func (r *receiver) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	if q.URL.Path != "/callback" {
		http.NotFound(w, q)
		return
	}
	_, _ = fmt.Fprintln(w, "Close this page and go back to your terminal.")
	values := q.URL.Query()
	select {
	case r.results <- &auth.AuthorizationResult{
		Code: values.Get("code"), State: values.Get("state"), Iss: values.Get("iss"),
	}:
	default: // the page was loaded again
	}
}

// fetch lets the user sign in.
func (r *receiver) fetch(ctx context.Context, a *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
	if err := r.open(a.URL); err != nil {
		return nil, err
	}
	select {
	case result := <-r.results:
		if result.Code == "" {
			return nil, errors.New("you were not signed in")
		}
		return result, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
