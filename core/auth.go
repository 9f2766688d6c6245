package core

import (
	"context"
	"sync/atomic"
)

// Auth answers the auth routes of one configuration and reads its sessions; one of [PerRequest] finds the configuration
// of each request first. It is immutable and safe for concurrent use; any number of them live side by side.
type Auth struct {
	// choose finds the Auth of a request, for [PerRequest], which fills besides it site's base path and log alone; nil:
	// this one.
	choose func(ctx context.Context, r *Request) (*Auth, error)

	site      *site
	providers []*provider // in order
	byID      map[string]*provider
	router    *router
	pages     *pages
	sessions  *sessions
	tokens    tokenReaders
	linker    *linker
	parts     parts
	mail      *mailQueue
	log       *reporter
	mounted   mounted

	audience string
	// sharedWarned is set when shared-sessions was logged.
	sharedWarned atomic.Bool
	store        stores
	refreshes    *refreshes
}

// BasePath is the prefix of all auth routes as the application sees it, "/auth" by default. Adapters mount there.
func (a *Auth) BasePath() string { return a.site.basePath }

// resolve returns the Auth that answers r: a itself, or the one that the function of [PerRequest] chooses. Every entry
// with a request begins with it.
func (a *Auth) resolve(ctx context.Context, r *Request) (*Auth, error) {
	if a.choose == nil {
		return a, nil
	}
	return a.choose(ctx, r)
}

// configured is an error for an Auth of [PerRequest], on which method cannot work: no request says which configuration
// is meant.
func configured(a *Auth, method string) error {
	if a.choose == nil {
		return nil
	}
	return errorf(ErrInvalidConfig, "%s: an Auth of PerRequest has no configuration of its own: "+
		"call the method of an Auth that its function returns", method)
}
