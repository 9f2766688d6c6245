package core

import (
	"context"
)

// RequestFrom returns the request of a guard or a handler of the application. ctx is the context that the guard was
// called with, or that of the request. It is nil if ctx has no visit of this Auth, for example without the request
// hook. The request must not be changed.
func (h *PluginHost) RequestFrom(ctx context.Context) *Request {
	if v := VisitOf(ctx, h.Auth); v != nil && v.refused == nil {
		return v.at.r
	}
	return nil
}

// CookieFrom decrypts a cookie that [ActionRequest.SetEncryptedCookie] stored into v, a pointer, for the request that
// [PluginHost.RequestFrom] returns. It returns false if there is no such request or cookie, if the cookie has expired
// or was modified, or if the value does not fit v. A guard that calls it must depend on the session too: then no
// shared cache stores the response.
func (h *PluginHost) CookieFrom(ctx context.Context, name string, v any) bool {
	visit := VisitOf(ctx, h.Auth)
	return visit != nil && visit.refused == nil && h.plugins.readCookie(&visit.at, name, v)
}

// Once returns the result of read, which it calls once for each request and key, so that several guards and the handler
// share one query. Use a key of a type that only the plugin has. Without a visit in ctx, it calls read each time. It is
// safe for concurrent use; read must not call Once with the same key.
func (h *PluginHost) Once(ctx context.Context, key any, read func() (any, error)) (any, error) {
	v := VisitOf(ctx, h.Auth)
	if v == nil {
		return read()
	}
	return v.memory.Do(key, read)
}
