// Package dotenv reads a .env file into the environment during development:
//
//	func main() {
//		if err := dotenv.Load(".env"); err != nil {
//			log.Fatal(err)
//		}
//		auth, err := core.New(config) // reads AUTH_SECRET, which .env has set
//
// The secret in such a file is on a developer's disk, and often also in a backup or a container image. Therefore [Load]
// ignores the file in production.
package dotenv

import (
	"errors"
	"fmt"
	"io/fs"
	"net/netip"
	"net/url"
	"os"
	"strings"
)

// Load reads a file with lines of the form NAME=value and sets the variables that are not in the environment yet. It
// skips empty lines and lines that begin with #, accepts "export " before a name, and removes quotes around a value. It
// expands no variables. A missing file is not an error.
//
// In production Load reads nothing. It assumes production if the environment has an AUTH_URL that is not on this
// machine, AUTH_TRUST_HOST, or a variable of a hosting platform (VERCEL, CF_PAGES). A file that sets one of these
// variables is an error. Errors contain no values. Call Load before other goroutines read the environment.
func Load(path string) error {
	if production(os.Getenv) {
		return nil
	}
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	values := map[string]string{}
	for i, line := range strings.Split(string(raw), "\n") {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(strings.TrimPrefix(line, "export "), "=")
		if name = strings.TrimSpace(name); !ok || name == "" || strings.ContainsAny(name, " \t") {
			return fmt.Errorf("%s:%d: write NAME=value", path, i+1)
		}
		values[name] = unquote(strings.TrimSpace(value))
	}
	if production(func(name string) string { return values[name] }) {
		return fmt.Errorf("%s is for development, and has the AUTH_URL or AUTH_TRUST_HOST of a public site: "+
			"set them, and a secret of that site, in its environment", path)
	}
	for name, value := range values {
		if _, set := os.LookupEnv(name); !set {
			if err := os.Setenv(name, value); err != nil {
				return fmt.Errorf("%s: %s: %w", path, name, err)
			}
		}
	}
	return nil
}

// unquote removes one pair of quotes around a value.
func unquote(value string) string {
	if n := len(value); n > 1 && value[0] == value[n-1] && (value[0] == '"' || value[0] == '\'') {
		return value[1 : n-1]
	}
	return value
}

// production reports whether the variables belong to a site that other machines can reach.
func production(getenv func(string) string) bool {
	if getenv("VERCEL") != "" || getenv("CF_PAGES") != "" {
		return true
	}
	if trust := getenv("AUTH_TRUST_HOST"); trust != "" && trust != "false" && trust != "0" {
		return true
	}
	address := getenv("AUTH_URL")
	if address == "" {
		address = getenv("NEXTAUTH_URL")
	}
	if address == "" {
		return false
	}
	at, err := url.Parse(address)
	return err != nil || !loopback(at.Hostname())
}

func loopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback()
}
