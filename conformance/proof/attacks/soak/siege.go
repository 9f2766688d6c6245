package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// siege are connections that are cheap for the attacker: slow or endless ones. Each reconnects when the server has
// closed it, at most four times a second, so that enough CPU time is left for the other clients. At the end it waits
// until the server has closed the last connections.
type siege struct {
	address string
	each    int           // connections of each kind
	wait    time.Duration // the time in which the server must close the last ones
	opened  atomic.Int64
	closed  atomic.Int64
	over    atomic.Bool
}

// besiegers are the kinds of connections. Each runs until the server closes it. None reads responses.
var besiegers = map[string]func(ctx context.Context, c net.Conn){
	"slow header": func(ctx context.Context, c net.Conn) {
		drip(ctx, c, "GET /auth/session"+line+"X-Slow: ")
	},
	"slow body": func(ctx context.Context, c net.Conn) {
		drip(ctx, c, "POST /auth/signin/op"+line+"Content-Type: "+form+"\r\nContent-Length: 100000\r\n\r\n")
	},
	"slow chunks": func(ctx context.Context, c net.Conn) {
		drip(ctx, c, "POST /auth/signin/op"+line+"Content-Type: "+form+"\r\nTransfer-Encoding: chunked\r\n\r\n10000\r\n")
	},
	"header without an end": func(_ context.Context, c net.Conn) {
		_, err := io.WriteString(c, "GET /auth/session"+line+"X-Giant: ")
		for part := strings.Repeat("g", 16<<10); err == nil; {
			_, err = io.WriteString(c, part)
		}
	},
	"slow reader": func(_ context.Context, c net.Conn) { // sends requests and reads nothing
		if tcp, ok := c.(*net.TCPConn); ok {
			_ = tcp.SetReadBuffer(4 << 10)
		}
		ask, err := strings.Repeat("GET /auth/signin"+line+"\r\n", 100), error(nil)
		for err == nil {
			_, err = io.WriteString(c, ask)
		}
	},
}

// drip writes the beginning of a request, and then one byte from time to time.
func drip(ctx context.Context, c net.Conn, begin string) {
	tick := time.NewTicker(50 * time.Millisecond)
	defer tick.Stop()
	_, err := io.WriteString(c, begin)
	for err == nil {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			_, err = io.WriteString(c, "x")
		}
	}
}

// begin opens the connections. end waits until the server has closed all of them. It returns an error if it has not.
func (s *siege) begin(ctx context.Context) (end func() error) {
	ctx, cancel := context.WithCancel(ctx)
	var all sync.WaitGroup
	for _, do := range besiegers {
		for range s.each {
			all.Go(func() {
				again := time.NewTicker(250 * time.Millisecond)
				defer again.Stop()
				for first := true; first || !s.over.Load() && ctx.Err() == nil; first = false {
					s.connect(ctx, do)
					select {
					case <-ctx.Done():
					case <-again.C:
					}
				}
			})
		}
	}
	return func() error {
		s.over.Store(true)
		late := time.AfterFunc(s.wait, cancel)
		all.Wait()
		late.Stop()
		cancel()
		if open := s.opened.Load() - s.closed.Load(); open > 0 {
			return fmt.Errorf("the server has left %d of %d slow connections open", open, s.opened.Load())
		}
		return nil
	}
}

// connect opens one connection, and counts it and its end.
func (s *siege) connect(ctx context.Context, do func(context.Context, net.Conn)) {
	c, err := (&net.Dialer{}).DialContext(ctx, "tcp", s.address)
	if err != nil {
		return
	}
	s.opened.Add(1)
	defer func() { _ = c.Close() }()
	defer context.AfterFunc(ctx, func() { _ = c.Close() })()
	do(ctx, c)
	if ctx.Err() == nil {
		s.closed.Add(1)
	}
}

// send makes clients send this number of requests, during a siege.
func (s *soak) send(ctx context.Context, site *site, requests int, count *counts) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	besieged := &siege{address: site.address, each: s.slow, wait: patience + s.deadline}
	end := besieged.begin(ctx)
	var late atomic.Bool
	if s.enough > 0 {
		defer time.AfterFunc(s.enough, func() { late.Store(true) }).Stop()
	}
	var all sync.WaitGroup
	for n := range s.visitors {
		all.Go(func() {
			v := site.visitor(n, count)
			for count.sent.Load() < int64(requests) && ctx.Err() == nil && !late.Load() {
				if err := v.next(ctx); err != nil {
					cancel(err)
				}
			}
			if err := v.leave(ctx); err != nil {
				cancel(err)
			}
		})
	}
	all.Wait()
	err := end()
	count.slow.Store(besieged.closed.Load())
	return errors.Join(context.Cause(ctx), err)
}
