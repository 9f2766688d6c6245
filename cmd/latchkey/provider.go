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

// add prints the steps to add a provider. address is AUTH_URL, the application's public URL, which may include the base
// path of the auth routes.
func add(out io.Writer, id, address string) error {
	provider, ok := providers.ByID(id)
	if !ok {
		return fmt.Errorf("there is no provider %q%s; latchkey provider list prints all", id, similar(id))
	}
	u, err := url.Parse(cmp.Or(address, "http://localhost:3000"))
	if err != nil || u.Host == "" {
		return errors.New("invalid AUTH_URL: it must look like https://app.example")
	}
	routes := u.Scheme + "://" + u.Host + cmp.Or(strings.TrimRight(u.Path, "/"), "/auth")
	_, err = fmt.Fprintf(out, `%s

1. Register an application at the provider, with this callback URL (one for each origin of your site):

     %s/callback/%s

2. Set these variables to the values that the provider gives you:

     %s=…

3. Add to core.Config.Providers:

     %s()

go doc github.com/latchkey-go/latchkey/%[5]s explains where to register, and what is special about the provider.
`, cmp.Or(provider.Name, id), routes, id,
		strings.Join(providers.Variables(provider), "=…\n     "), constructor(id))
	return err
}

// constructor returns the name of the provider's constructor, such as providers.GitHub.
func constructor(id string) string {
	for _, e := range providers.All() {
		if e.ID == id {
			name := runtime.FuncForPC(reflect.ValueOf(e.New).Pointer()).Name()
			return name[strings.LastIndex(name, "/")+1:]
		}
	}
	return "providers.ByID"
}

// similar returns the providers whose IDs have the same beginning.
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
