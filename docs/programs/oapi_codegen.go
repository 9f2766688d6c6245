package main

import (
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
)

// protect returns the middleware for generated handlers: each operation gets a guard from its security requirements.
// base is the BaseURL of the server.
func protect(a *authhttp.Adapter, document *openapi3.T, base string) func(http.Handler) http.Handler {
	guards := map[string]func(http.Handler) http.Handler{}
	for path, item := range document.Paths.Map() {
		for method, operation := range item.Operations() {
			required := operation.Security // nil if the operation has none
			if required == nil {
				required = &document.Security
			}
			guards[method+" "+base+path] = guard(a, *required)
		}
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			guard := guards[r.Pattern]
			if guard == nil { // another BaseURL
				http.Error(w, "this operation has no guard", http.StatusForbidden)
				return
			}
			guard(next).ServeHTTP(w, r)
		})
	}
}

// guard returns the guard for security requirements. Each requirement is an alternative.
func guard(a *authhttp.Adapter, required openapi3.SecurityRequirements) func(http.Handler) http.Handler {
	if required != nil && len(required) == 0 { // security: []
		return a.Hook
	}
	for _, alternative := range required {
		if scopes, ok := alternative["bearer"]; ok { // users, and programs with these scopes
			return a.RequirePrincipal(core.Scopes(scopes...))
		}
	}
	return a.RequireSession
}
