package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"time"

	"golang.org/x/oauth2"
)

// signIn signs the user in with the browser of this computer (RFC 8252). The browser returns to a port that this
// program opens.
func signIn(
	ctx context.Context, config *oauth2.Config, issuer string, out io.Writer, open func(url string) error,
) (*oauth2.Token, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	config.RedirectURL = fmt.Sprintf("http://%s/callback", listener.Addr())
	state, verifier := rand.Text(), oauth2.GenerateVerifier()
	returned := make(chan url.Values, 1)
	server := &http.Server{ReadHeaderTimeout: 5 * time.Second, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/callback" || r.URL.Query().Get("state") != state {
				http.NotFound(w, r)
				return
			}
			_, _ = fmt.Fprintln(w, "Close this page and go back to your terminal.")
			select {
			case returned <- r.URL.Query():
			default: // the page was loaded again
			}
		})}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Shutdown(context.WithoutCancel(ctx)) }() // after the page is sent

	address := config.AuthCodeURL(state, oauth2.S256ChallengeOption(verifier))
	_, _ = fmt.Fprintf(out, "Your browser opens this page:\n%s\n", address)
	if err := open(address); err != nil {
		_, _ = fmt.Fprintln(out, "It could not be opened. Open it in a browser on this computer.")
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case q := <-returned:
		switch {
		case q.Get("iss") != issuer: // RFC 9207
			return nil, errors.New("the response is not from " + issuer)
		case q.Get("error") != "":
			return nil, errors.New("you were not signed in: " + q.Get("error"))
		}
		return config.Exchange(ctx, q.Get("code"), oauth2.VerifierOption(verifier))
	}
}

// signInOnDevice signs the user in with the browser of any device (RFC 8628).
func signInOnDevice(ctx context.Context, config *oauth2.Config, out io.Writer) (*oauth2.Token, error) {
	device, err := config.DeviceAuth(ctx)
	if err != nil {
		return nil, err
	}
	_, _ = fmt.Fprintf(out, "Open %s and type %s\n", device.VerificationURI, device.UserCode)
	return config.DeviceAccessToken(ctx, device) // waits for the user
}
