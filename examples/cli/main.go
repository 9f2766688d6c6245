// The cli example: a command-line tool that signs its user in to the server of examples/orders, and calls its API.
//
//	go run ./examples/orders             # the server, in another terminal
//	go run ./examples/cli login          # opens the browser of this computer
//	go run ./examples/cli -device login  # shows a code to type in a browser on another device
//	go run ./examples/cli list
//	go run ./examples/cli logout
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"runtime"
	"strings"

	"golang.org/x/oauth2"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, openBrowser); err != nil {
		fmt.Fprintln(os.Stderr, "orders:", err)
		os.Exit(1)
	}
}

// run runs a command. open opens a URL in the user's browser.
func run(ctx context.Context, args []string, out io.Writer, open func(url string) error) error {
	flags := flag.NewFlagSet("orders", flag.ContinueOnError)
	flags.SetOutput(out)
	site := flags.String("site", "http://localhost:3000", "address of the server")
	device := flags.Bool("device", false, "sign in with the browser of another device")
	if err := flags.Parse(args); err != nil {
		return err
	}
	folder, err := os.UserConfigDir()
	if err != nil {
		return err
	}
	config := &oauth2.Config{
		ClientID: "orders-cli", Scopes: []string{"orders:read"},
		Endpoint: oauth2.Endpoint{
			AuthURL: *site + "/auth/authorize", TokenURL: *site + "/auth/token",
			DeviceAuthURL: *site + "/auth/device/authorization", AuthStyle: oauth2.AuthStyleInParams,
		},
	}
	file := &tokenFile{config, filepath.Join(folder, "latchkey-orders", "token.json")}

	switch command := flags.Arg(0); command {
	case "login":
		var token *oauth2.Token
		if *device {
			token, err = signInOnDevice(ctx, config, out)
		} else {
			token, err = signIn(ctx, config, *site, out, open)
		}
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintln(out, "You are signed in.")
		return file.write(token)
	case "list":
		return list(ctx, *site, file, out)
	case "logout":
		return logout(ctx, *site, file)
	default:
		return fmt.Errorf("unknown command %q: use login, list or logout", command)
	}
}

// list prints the user's orders.
func list(ctx context.Context, site string, file *tokenFile, out io.Writer) error {
	response, err := call(ctx, site+"/api/orders", file, "")
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return errors.New("the server responds " + response.Status)
	}
	_, err = io.Copy(out, response.Body)
	return err
}

// call sends a request with an access token. If the server refuses the token, it tries another one once. refused is the
// token that was refused before.
func call(ctx context.Context, address string, file *tokenFile, refused string) (*http.Response, error) {
	token, err := file.token(ctx, refused)
	if err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	token.SetAuthHeader(request)
	response, err := http.DefaultClient.Do(request)
	if err != nil || response.StatusCode != http.StatusUnauthorized || refused != "" {
		return response, err
	}
	_ = response.Body.Close()
	return call(ctx, address, file, token.AccessToken)
}

// logout ends the sign-in (RFC 7009) and deletes the token.
func logout(ctx context.Context, site string, file *tokenFile) error {
	token, err := file.read()
	if err != nil {
		return err
	}
	form := url.Values{"client_id": {file.config.ClientID}, "token": {token.RefreshToken}}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, site+"/auth/token/revoke",
		strings.NewReader(form.Encode()))
	if err != nil {
		return err
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return errors.New("the server responds " + response.Status)
	}
	return os.Remove(file.path)
}

// openBrowser opens a URL in the user's browser.
func openBrowser(address string) error {
	command := []string{"xdg-open", address}
	switch runtime.GOOS {
	case "darwin":
		command[0] = "open"
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler", address}
	}
	return exec.Command(command[0], command[1:]...).Start() //nolint:gosec,noctx // this program made the URL
}
