package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
)

// serve runs a process of this program: a measured server or the provider. It prints its address on the first line.
func serve(ctx context.Context, out io.Writer, name, store, provider, dir string) error {
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	run, err := handlerOf(ctx, name, store, provider, dir, "http://"+l.Addr().String())
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintln(out, l.Addr()); err != nil {
		return err
	}
	done := make(chan error, 1)
	go func() { done <- run(l) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return nil
	}
}

func handlerOf(ctx context.Context, name, store, provider, dir, origin string) (func(net.Listener) error, error) {
	switch name {
	case "provider":
		return func(l net.Listener) error { return serveHTTP(http.HandlerFunc(answerAsProvider), l) }, nil
	case "jose":
		f := newFloor(origin, provider, nil, newJoseSealer)
		return func(l net.Listener) error { return serveHTTP(f.handler(), l) }, nil
	case "floor":
		f := newFloor(origin, provider, nil, newFloorSealer)
		if store != "" {
			var err error
			if f.find, err = floorStore(ctx, store, dir); err != nil {
				return nil, err
			}
		}
		return func(l net.Listener) error { return serveHTTP(f.handler(), l) }, nil
	}
	if bare := bares[name]; bare != nil {
		return bare, nil
	}
	router := routers[name]
	if router == nil {
		return nil, fmt.Errorf("no server is called %q", name)
	}
	kept, err := openStore(ctx, store, dir)
	if err != nil {
		return nil, err
	}
	auth, err := newAuth(provider, kept, nil)
	if err != nil {
		return nil, err
	}
	return func(l net.Listener) error { return router(auth, l) }, nil
}

// answerAsProvider responds as the provider's token and userinfo endpoints, to every request.
func answerAsProvider(w http.ResponseWriter, r *http.Request) {
	_, _ = io.Copy(io.Discard, r.Body)
	answer := map[string]any{
		"access_token": "ya29.a0AfB_byC-not-a-token-of-anybody", "token_type": "Bearer", "expires_in": 3600, "scope": "email",
	}
	if r.URL.Path == "/userinfo" {
		answer = map[string]any{"sub": "583231", "name": personName, "email": personEmail, "picture": personImage}
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(answer)
}
