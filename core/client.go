package core

import (
	"context"
	"net/netip"
)

// Client tells a plugin how well the client of a request is known, so that it can share scarce resources such as
// processor time among clients.
type Client struct {
	// Networks are the client's network and, for IPv6, the /56 and /48 around it. It is empty for an unidentified client,
	// see [LimitParams].PeerIsVisitor.
	Networks []netip.Prefix
	// Known reports that the client is a known browser of the user who signs in ([Limits].KnownBrowsers).
	Known bool
}

type clientKey struct{}

// ClientFromContext returns the client of the request that ctx belongs to: in CredentialsProvider.Authorize and Admit,
// and in contexts of [Call.WithClient]. It returns the zero Client, an unidentified one, for other contexts.
func ClientFromContext(ctx context.Context) Client {
	c, _ := ctx.Value(clientKey{}).(Client)
	return c
}

// WithClient adds the client of the Call to ctx; [ClientFromContext] returns it. identifier is the address, name or
// user ID that the request is about; it may be empty.
func (c *Call) WithClient(ctx context.Context, identifier string) context.Context {
	return c.parts.limits.withClient(ctx, c.in, identifier)
}

func (l *limits) withClient(ctx context.Context, c *call, identifier string) context.Context {
	who := Client{Known: l.known.of(c, identifier) != ""}
	if from := c.client(); from.identified {
		who.Networks = from.widths()
	}
	return context.WithValue(ctx, clientKey{}, who)
}
