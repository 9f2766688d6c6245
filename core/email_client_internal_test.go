package core

import (
	"net/http"
	"testing"
)

// TestEmailClient: a security notice has the network of an identified client and never that of a proxy, and no text of
// the User-Agent header.
func TestEmailClient(t *testing.T) {
	t.Parallel()
	const firefox = "Mozilla/5.0 (X11; Linux x86_64; rv:133.0) Gecko/20100101 Firefox/133.0"
	for _, row := range []struct {
		name, peer, forwarded, agent string
		network, device              string
	}{
		{"a browser", "192.0.2.7:4711", "", firefox, "192.0.2.7/32", "Firefox, Linux"},
		{"IPv6", "[2001:db8::1]:4711", "", firefox, "2001:db8::/64", "Firefox, Linux"},
		{"a proxy that is not configured", "192.0.2.7:4711", "203.0.113.9", firefox, "invalid Prefix", "Firefox, Linux"},
		{"this machine", "127.0.0.1:4711", "", "Chrome/1.0", "invalid Prefix", "Chrome"},
		{"an unknown browser", "192.0.2.7:4711", "", "X (Linux)", "192.0.2.7/32", "Linux"},
		{"a text of the client", "192.0.2.7:4711", "", "call +1 555 0100 now", "192.0.2.7/32", ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			r := &Request{RemoteAddr: row.peer, Header: http.Header{"User-Agent": {row.agent}}}
			if row.forwarded != "" {
				r.Header["X-Forwarded-For"] = []string{row.forwarded}
			}
			c := &ActionRequest{in: &call{arrival: arrival{site: &site{}, r: r}}}
			if got := c.AddClient(Email{}); got.Peer.String() != row.network || got.Device != row.device {
				t.Errorf("network %s and device %q, want %s and %q", got.Peer, got.Device, row.network, row.device)
			}
		})
	}
}
