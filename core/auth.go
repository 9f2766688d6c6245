package core

import (
	"context"
)

// Auth answers the auth routes of one configuration and reads its sessions. It is immutable and safe for concurrent use; any
// number of them live side by side.
type Auth struct {
	site      *site
	providers []*provider // in order
	byID      map[string]*provider
	pages     *pages
	sessions  *sessions
	linker    *linker
	rules     map[route]rule
	log       *reporter
	mounted   mounted

	audience  string
	store     stores
	refreshes *refreshes
}

// Handle answers a request to the auth routes. It is the one entry; what it returns is never nil, and is what callers
// of Auth.js's raw mode get. A request outside the base path is answered 400: adapters route only their own paths here.
func (a *Auth) Handle(ctx context.Context, r *Request) *Response { return Serve(ctx, a, r) }
