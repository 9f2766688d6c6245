package core

import (
	"context"
	"crypto/sha256"
	"errors"
	"reflect"
	"sync"
	"sync/atomic"
)

// Selector chooses the Auth that answers a request: an *Auth always chooses itself, [PerRequest] looks at the request first.
type Selector interface {
	// Select returns the Auth for a request. It is called once for each answer.
	Select(ctx context.Context, r *Request) (*Auth, error)
	// BasePath is where adapters mount the auth routes.
	BasePath() string

	selector() // only the two above: they can be compared
}

// Select makes an Auth its own [Selector].
func (a *Auth) Select(context.Context, *Request) (*Auth, error) { return a, nil }

func (a *Auth) selector() {}

// BasePath is the prefix of all actions as the application sees it, "/auth" by default. Adapters mount there.
func (a *Auth) BasePath() string { return a.site.basePath }

// SelectFunc returns the Auth to use for a request, by its host for instance: by the request alone, as hook and guard of one request
// share the first choice. An error is answered like a faulty configuration:
// status 500 without details. Building an Auth derives keys; keep them and choose among them. It is called concurrently.
type SelectFunc func(ctx context.Context, r *Request) (*Auth, error)

// PerRequest is a configuration per request: for tenants, each with providers and users of their own. Adapters mount it at basePath,
// where every Auth that f returns must answer; with an empty one they cannot mount it, and it takes Auths of any path.
//
// Auths with the same secret and the same session cookie accept each other's encrypted sessions: a visitor who signed
// in to one tenant is signed in to all. [Config.Audience] keeps them apart. PerRequest warns when it is handed two that
// are not.
func PerRequest(basePath string, f SelectFunc) Selector {
	return &perRequest{basePath: basePath, choose: f}
}

type perRequest struct {
	basePath string
	choose   SelectFunc
	// known holds the Auths that were looked at, and the first Auth of each realm.
	known, realms sync.Map
	count         atomic.Int32
}

// maxKnown bounds what perRequest remembers: an application that builds an Auth for each request must not fill memory.
const maxKnown = 1024

func (p *perRequest) selector() {}

func (p *perRequest) BasePath() string { return p.basePath }

func (p *perRequest) Select(ctx context.Context, r *Request) (*Auth, error) {
	a, err := p.choose(ctx, r)
	if err != nil || a == nil {
		return nil, err
	}
	if p.basePath != "" && a.site.basePath != p.basePath {
		return nil, errorf(InvalidConfig, "the Auth for this request answers at %q and PerRequest at %q: set the Auth's Config.BasePath to %q", a.site.basePath, p.basePath, p.basePath)
	}
	if _, known := p.known.Load(a); !known && p.count.Load() < maxKnown {
		p.look(ctx, a)
	}
	return a, nil
}

// look warns of an Auth whose sessions another one accepts.
func (p *perRequest) look(ctx context.Context, a *Auth) {
	if _, known := p.known.LoadOrStore(a, true); known {
		return
	}
	p.count.Add(1)
	first, there := p.realms.LoadOrStore(a.realm(), a)
	if !there {
		return
	}
	if a.sessions.config.Strategy == StrategyJWT || sameStore(a.store.Store, first.(*Auth).store.Store) {
		a.log.warn(ctx, WarnSharedSessions)
	}
}

// realm names the Auths that accept each other's sessions.
func (a *Auth) realm() [sha256.Size]byte {
	return sha256.Sum256([]byte(a.site.secrets[0] + "\x00" + a.audience + "\x00" + a.site.cookieSets[1].session.name()))
}

func sameStore(a, b Store) bool {
	return a != nil && b != nil && reflect.TypeOf(a).Comparable() && reflect.TypeOf(b).Comparable() && a == b
}

// choose asks a selector, whatever it does.
func choose(ctx context.Context, s Selector, r *Request) (*Auth, error) {
	if a, is := s.(*Auth); is {
		return a, nil
	}
	a, err := guarded("configuration function", func() (*Auth, error) { return s.Select(ctx, r) })
	if err == nil && a == nil {
		err = errors.New("the function returned neither an Auth nor an error")
	}
	return a, err
}
