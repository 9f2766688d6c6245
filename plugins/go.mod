module github.com/latchkey-go/latchkey/plugins

go 1.26.0

require (
	github.com/a-h/templ v0.3.977
	github.com/go-jose/go-jose/v4 v4.1.9
	github.com/google/jsonschema-go v0.4.3
	github.com/latchkey-go/latchkey/adapters/stdlib v0.0.0
	github.com/latchkey-go/latchkey/core v0.0.0
	github.com/latchkey-go/latchkey/dev v0.0.0
	github.com/latchkey-go/latchkey/internal v0.0.0
	github.com/latchkey-go/latchkey/plugins/accesstoken/verify v0.0.0
	github.com/latchkey-go/latchkey/providers/password v0.0.0
	github.com/latchkey-go/latchkey/storage v0.0.0
	github.com/latchkey-go/latchkey/ui v0.0.0
	github.com/piglig/go-qr v1.1.0
	golang.org/x/oauth2 v0.36.0
)

require (
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)

replace (
	github.com/latchkey-go/latchkey/adapters/stdlib => ../adapters/stdlib
	github.com/latchkey-go/latchkey/conformance => ../conformance
	github.com/latchkey-go/latchkey/core => ../core
	github.com/latchkey-go/latchkey/dev => ../dev
	github.com/latchkey-go/latchkey/internal => ../internal
	github.com/latchkey-go/latchkey/plugins/accesstoken/verify => ./accesstoken/verify
	github.com/latchkey-go/latchkey/providers => ../providers
	github.com/latchkey-go/latchkey/providers/password => ../providers/password
	github.com/latchkey-go/latchkey/storage => ../storage
	github.com/latchkey-go/latchkey/storage/internal => ../storage/internal
	github.com/latchkey-go/latchkey/ui => ../ui
)
