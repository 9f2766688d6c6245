package core

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
)

// PerRequest returns an Auth that lets choose find the configuration of each request, by its host for instance: for
// tenants, each with providers and users of their own. Adapters take it as they take any Auth and mount it at basePath,
// where every Auth that choose returns must answer. With an empty basePath it takes Auths of any path, and no adapter
// can mount it.
//
// An error of choose is answered like a faulty configuration: status 500 without details; so is a panic, and nil
// without an error. Building an Auth derives keys: choose keeps them and looks one up. It is called concurrently, and
// once for each answer; hook and guard of one request share the first choice, so it decides by the request alone.
//
// The Auth of PerRequest has no configuration of its own. Methods that get no request ([Auth.Refresh], [Auth.SealToken]
// and [Auth.OpenToken]) return an error of type [ErrInvalidConfig]: call them on the Auth that choose returns.
//
// Auths with the same secret and the same session cookie accept each other's encrypted sessions: a visitor who signed
// in to one tenant is signed in to all. [Config.Audience] keeps them apart. The log has a warning, "shared-sessions",
// when choose returns two that are not.
func PerRequest(basePath string, choose func(ctx context.Context, r *Request) (*Auth, error)) *Auth {
	c := &chooser{basePath: basePath, choose: choose}
	return &Auth{
		choose: c.resolve, site: &site{basePath: basePath}, router: &router{}, log: &reporter{logger: slog.Default()},
	}
}

// chooser is the function of PerRequest, and what it has returned.
type chooser struct {
	basePath string
	choose   func(ctx context.Context, r *Request) (*Auth, error)
	// known holds the Auths that were looked at, and the first Auth of each realm.
	known, realms sync.Map
	count         atomic.Int32
}

// maxKnown bounds what a chooser remembers: an application that builds an Auth for each request must not fill memory.
const maxKnown = 1024

func (c *chooser) resolve(ctx context.Context, r *Request) (*Auth, error) {
	a, err := guarded("configuration function", func() (*Auth, error) { return c.choose(ctx, r) })
	switch {
	case err != nil:
		return nil, fmt.Errorf("configuration function: %w", err)
	case a == nil:
		return nil, errors.New("configuration function: it returned neither an Auth nor an error")
	case a.site == nil:
		return nil, errorf(ErrInvalidConfig, "configuration function: it returned an Auth that New has not made")
	case a.choose != nil:
		return nil, errorf(ErrInvalidConfig, "configuration function: it returned an Auth of PerRequest: "+
			"return one that New has made")
	case c.basePath != "" && a.site.basePath != c.basePath:
		return nil, errorf(ErrInvalidConfig, "the Auth for this request answers at %q and PerRequest at %q: "+
			"set the Auth's Config.BasePath to %q", a.site.basePath, c.basePath, c.basePath)
	}
	if _, known := c.known.Load(a); !known && c.count.Load() < maxKnown {
		c.look(ctx, a)
	}
	return a, nil
}

// look warns of an Auth whose sessions another one accepts.
func (c *chooser) look(ctx context.Context, a *Auth) {
	if _, known := c.known.LoadOrStore(a, true); known {
		return
	}
	c.count.Add(1)
	if first, there := c.realms.LoadOrStore(realmOf(a), a); there && a.sharesSessions(first.(*Auth)) {
		a.warnShared(ctx)
	}
}
