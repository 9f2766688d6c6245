package main

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"strings"
	"sync"
	"sync/atomic"
)

// name is a host name that resolves to another address at each lookup: first to a documentation network (RFC 5737)
// without hosts, then to this machine, where a listener counts connections.
type name struct {
	issuer string
	asked  atomic.Int64 // lookups of an IPv4 address
	came   atomic.Int64
}

// names are the host names of this process's resolver. Other names use the system's resolver.
var names = struct {
	sync.Mutex
	known map[string]*name
}{known: map[string]*name{}}

const rebinding = ".rebind.example"

// resolver installs the resolver in the process once. The HTTP client has no other resolver.
var resolver = sync.OnceValue(func() error {
	server, err := net.ListenUDP("udp", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		return err
	}
	go serveNames(server)
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
	return nil
})

// rebind returns a host name whose address changes.
func (p *oddAnswer) rebind(a *attack) *name {
	if p.Endpoint != "discovery" {
		a.must(errors.New("a name that changes is known of discovery alone"))
	}
	a.must(resolver())
	n := &name{}
	l, err := (&net.ListenConfig{}).Listen(a, "tcp", "127.0.0.1:0")
	a.must(err)
	a.closers = append(a.closers, func() { _ = l.Close() })
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			n.came.Add(1)
			_ = conn.Close()
		}
	}()
	_, port, err := net.SplitHostPort(l.Addr().String())
	a.must(err)
	host := "op-" + port + rebinding
	names.Lock()
	names.known[host] = n
	names.Unlock()
	n.issuer = "https://" + net.JoinHostPort(host, port)
	return n
}

// reached returns the number of connections to this machine. If the name was not looked up twice, the test proves
// nothing and the name counts as reached.
func (n *name) reached() int {
	if n.asked.Load() < 2 {
		return 1000
	}
	return int(n.came.Load())
}

// serveNames answers DNS queries (RFC 1035 section 4.1). Only type A queries have an answer.
func serveNames(server *net.UDPConn) {
	buffer := make([]byte, 1500)
	for {
		n, from, err := server.ReadFromUDP(buffer)
		if err != nil {
			return
		}
		q := buffer[:n]
		if n < 17 {
			continue
		}
		var labels []string
		at := 12
		for at < n && q[at] != 0 && at+1+int(q[at]) <= n {
			labels = append(labels, string(q[at+1:at+1+int(q[at])]))
			at += 1 + int(q[at])
		}
		if at+5 > n {
			continue
		}
		question := q[12 : at+5]
		answer := append([]byte{q[0], q[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, question...)
		names.Lock()
		known := names.known[strings.ToLower(strings.Join(labels, "."))]
		names.Unlock()
		switch {
		case known == nil:
			answer[3] |= 3 // no such name
		case binary.BigEndian.Uint16(q[at+1:]) == 1:
			address := []byte{192, 0, 2, 1}
			if known.asked.Add(1) > 1 {
				address = []byte{127, 0, 0, 1}
			}
			answer[7] = 1
			answer = append(append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4), address...)
		}
		_, _ = server.WriteToUDP(answer, from)
	}
}
