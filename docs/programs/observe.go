package main

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus/promhttp"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/observe/prometheus"
)

func newSite(config core.Config) (http.Handler, error) {
	metrics, err := prometheus.New(nil) // nil is the default registry
	if err != nil {
		return nil, err
	}
	auth, err := core.New(metrics.Wrap(config))
	if err != nil {
		return nil, err
	}
	metrics.Follow(auth)
	mux := http.NewServeMux()
	authhttp.New(auth).Mount(mux)
	go func() {
		// On a separate private listener, never on the public mux.
		_ = http.ListenAndServe("127.0.0.1:9464", promhttp.Handler())
	}()
	return mux, nil
}
