package core

import (
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"slices"

	"github.com/latchkey-go/latchkey/core/internal/announcements"
	"github.com/latchkey-go/latchkey/core/internal/auditor"
	"github.com/latchkey-go/latchkey/core/internal/errormarks"
	"github.com/latchkey-go/latchkey/core/internal/problems"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/internal/cookie"
	"github.com/latchkey-go/latchkey/internal/forwarded"
	"github.com/latchkey-go/latchkey/internal/weburl"
	"github.com/latchkey-go/latchkey/ui"
)

// arrival is a request with its public origin and its cookies, which is enough for a visit to a page of the
// application. A [call] is an arrival at an auth route. It is read-only after settle.
type arrival struct {
	*site
	r *Request

	*place
	jar cookie.Jar
	// locale is the language of the response. It is nil until it is first used; see language.
	locale *ui.Locale

	// action and providerID are those of the auth route. providerID is a configured provider. Both are logged.
	action, providerID string
	// number identifies the request within this process.
	number uint64
	// program reports that the client is a program, whatever its headers say: the request is an RPC call. foreign reports
	// that the session cookie of a call is ignored, because no page of this site made the call.
	program, foreign bool
	// pending are the announced changes that were not reported yet.
	pending announcements.Pending
	// verified is the credential of the request. Copies of the arrival share it. It is nil if the request cannot have
	// one.
	verified *auditor.Credential
	// misconfigured is the reference of a request that has no Auth.
	misconfigured string
}

// unsettled returns an arrival without origin and cookies. It is enough for an error response.
func (s *site) unsettled(r *Request) arrival {
	return arrival{site: s, r: r, place: s.unknownPlace, number: s.failures.Next()}
}

// settle sets the place and the cookies. If the origin is rejected, the arrival stays usable for the error response.
func (v *arrival) settle() error {
	settled, err := v.placeOfRequest(v.r)
	if err != nil {
		return err
	}
	v.place, v.jar = settled, cookie.Parse(v.r.Header["Cookie"])
	if len(v.credentials) > 0 && len(v.r.Header["Authorization"]) > 0 {
		v.verified = &auditor.Credential{}
	}
	return nil
}

// arrive returns the settled arrival of a request.
func (s *site) arrive(r *Request) (arrival, error) {
	v := s.unsettled(r)
	err := v.settle()
	return v, err
}

// header returns the first value of a header field.
func (v *arrival) header(name string) string { return v.r.Header.Get(name) }

// page returns the URL of a built-in page, or of the application's own page, with the parameters added to the query.
func (v *arrival) page(own, action string, params ...string) (string, error) {
	if own == "" {
		own = v.base + "/" + action
	}
	return weburl.AddQuery(own, params...)
}

// placeOfRequest returns the place of a request.
func (s *site) placeOfRequest(r *Request) (*place, error) {
	received := received(r)
	if s.pinned {
		s.warnOfOtherOrigin(&received)
		return s.pinnedPlace, nil
	}
	settled, err := s.origins.Of(&received)
	switch {
	case errors.Is(err, forwarded.ErrNoOrigin):
		return nil, errorf(ErrUntrustedHost, "%w", err)
	case err != nil:
		return nil, &problems.BadRequest{Cause: errorf(ErrUntrustedHost, "%w", errormarks.Suspicious(err))}
	}
	return settled, nil
}

// warnOfOtherOrigin logs a warning, once, if a request names another origin than the configured one. The browser is
// redirected to the configured origin, where it does not send its cookies, so the user appears to be signed out. An
// attacker can cause this warning, but only once.
func (s *site) warnOfOtherOrigin(r *forwarded.Request) {
	if s.originWarned.Load() {
		return
	}
	visited, elsewhere := s.origins.Elsewhere(r)
	if !elsewhere || slices.Contains(s.protected, visited) || s.originWarned.Swap(true) {
		return
	}
	s.log.warn(context.Background(), warnings.VisitedElsewhere,
		slog.String("visited", visited.String()), slog.String("configured", s.pinnedOrigin),
		slog.String("hint", "URL (AUTH_URL) has another origin than requests: browsers are redirected to it and do not send "+
			"their cookies there. Ignore this warning if a proxy terminates TLS or rewrites the Host header without "+
			"X-Forwarded-Proto and X-Forwarded-Host"))
}

// client returns the client's network for limits; see [forwarded.Proxies.Client]. identified reports whether the
// network is the client's own, as [LimitParams].PeerIsVisitor says.
func (v *arrival) client() (network netip.Prefix, identified bool) {
	received := received(v.r)
	return v.origins.Proxies.Client(&received)
}

// UnixSockets returns an entry of Config.TrustedProxies for a proxy that connects over a Unix socket. A peer on a Unix
// socket is also trusted if TrustedProxies contains 127.0.0.1 or ::1.
func UnixSockets() netip.Prefix { return forwarded.UnixSockets() }
