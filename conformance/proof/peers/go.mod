module github.com/latchkey-go/latchkey/conformance/proof/peers

go 1.26.0

require (
	connectrpc.com/connect v1.19.1
	github.com/go-chi/chi/v5 v5.3.1
	github.com/go-jose/go-jose/v4 v4.1.9
	github.com/gorilla/mux v1.8.1
	github.com/latchkey-go/latchkey/adapters/stdlib v0.0.0
	github.com/latchkey-go/latchkey/conformance v0.0.0
	github.com/latchkey-go/latchkey/conformance/rig/engines v0.0.0
	github.com/latchkey-go/latchkey/core v0.0.0
	github.com/latchkey-go/latchkey/providers v0.0.0
	github.com/latchkey-go/latchkey/storage/memory v0.0.0
	github.com/zitadel/oidc/v3 v3.49.2
	google.golang.org/protobuf v1.36.9
)

require (
	github.com/a-h/templ v0.3.977 // indirect
	github.com/bmatcuk/doublestar/v4 v4.10.0 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/go-logr/logr v1.4.3 // indirect
	github.com/go-logr/stdr v1.2.2 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/gorilla/securecookie v1.1.2 // indirect
	github.com/latchkey-go/latchkey/ui v0.0.0 // indirect
	github.com/muhlemmer/gu v0.3.1 // indirect
	github.com/muhlemmer/httpforwarded v0.1.0 // indirect
	github.com/rs/cors v1.11.1 // indirect
	github.com/zitadel/schema v1.3.2 // indirect
	go.opentelemetry.io/auto/sdk v1.2.1 // indirect
	go.opentelemetry.io/otel v1.44.0 // indirect
	go.opentelemetry.io/otel/metric v1.44.0 // indirect
	go.opentelemetry.io/otel/trace v1.44.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace (
	github.com/latchkey-go/latchkey/adapters/stdlib => ../../../adapters/stdlib
	github.com/latchkey-go/latchkey/conformance => ../..
	github.com/latchkey-go/latchkey/conformance/rig/engines => ../../rig/engines
	github.com/latchkey-go/latchkey/core => ../../../core
	github.com/latchkey-go/latchkey/providers => ../../../providers
	github.com/latchkey-go/latchkey/storage/memory => ../../../storage/memory
	github.com/latchkey-go/latchkey/ui => ../../../ui
)
