package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/url"
	"reflect"
	"runtime"
	"strings"

	"github.com/latchkey-go/latchkey/providers"
)

// list prints the ids of all providers.
func list(out io.Writer) error {
	for _, e := range providers.All() {
		if _, err := fmt.Fprintln(out, e.ID); err != nil {
			return err
		}
	}
	return nil
}

// add prints what a developer does to sign people in with a provider. address is AUTH_URL: the public address of the
// application, which may end in the path of the auth routes.
func add(out io.Writer, id, address string) error {
	provider, ok := providers.ByID(id)
	if !ok {
		return fmt.Errorf("there is no provider %q%s; latchkey provider list prints all", id, similar(id))
	}
	u, err := url.Parse(cmp.Or(address, "http://localhost:3000"))
	if err != nil || u.Host == "" {
		return errors.New("AUTH_URL cannot be read: it is such as https://app.example")
	}
	routes := u.Scheme + "://" + u.Host + cmp.Or(strings.TrimRight(u.Path, "/"), "/auth")
	_, err = fmt.Fprintf(out, `%s

1. Register an application at the provider, with this callback URL (for each address that it has):

     %s/callback/%s

2. Set what the registration says:

     %s=…

3. Add to core.Config.Providers:

     %s()

go doc github.com/latchkey-go/latchkey/%[5]s says where to register, and what is peculiar.
`, cmp.Or(provider.Name, id), routes, id,
		strings.Join(providers.Variables(provider), "=…\n     "), constructor(id))
	return err
}

// constructor is the name of the function that makes a provider, such as providers.GitHub.
func constructor(id string) string {
	for _, e := range providers.All() {
		if e.ID == id {
			name := runtime.FuncForPC(reflect.ValueOf(e.New).Pointer()).Name()
			return name[strings.LastIndex(name, "/")+1:]
		}
	}
	return "providers.ByID"
}

// similar names the providers whose ids begin alike.
func similar(id string) string {
	var near []string
	for _, e := range providers.All() {
		if len(id) >= 3 && strings.HasPrefix(e.ID, id[:3]) {
			near = append(near, e.ID)
		}
	}
	if near == nil {
		return ""
	}
	return ": did you mean " + strings.Join(near, ", ") + "?"
}
