module github.com/latchkey-go/latchkey/adapters/mcp

go 1.26.0

require (
	github.com/latchkey-go/latchkey/adapters/stdlib v0.0.0
	github.com/latchkey-go/latchkey/core v0.0.0
	github.com/latchkey-go/latchkey/dev v0.0.0
	github.com/latchkey-go/latchkey/plugins v0.0.0
	github.com/latchkey-go/latchkey/plugins/accesstoken/verify v0.0.0
	github.com/latchkey-go/latchkey/storage v0.0.0
	github.com/modelcontextprotocol/go-sdk v1.8.0
)

require (
	github.com/a-h/templ v0.3.977 // indirect
	github.com/go-jose/go-jose/v4 v4.1.9 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/latchkey-go/latchkey/internal v0.0.0 // indirect
	github.com/latchkey-go/latchkey/ui v0.0.0 // indirect
	github.com/segmentio/asm v1.1.3 // indirect
	github.com/segmentio/encoding v0.5.4 // indirect
	github.com/yosida95/uritemplate/v3 v3.0.2 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
	golang.org/x/time v0.15.0 // indirect
)

replace (
	github.com/latchkey-go/latchkey/adapters/stdlib => ../stdlib
	github.com/latchkey-go/latchkey/conformance => ../../conformance
	github.com/latchkey-go/latchkey/core => ../../core
	github.com/latchkey-go/latchkey/dev => ../../dev
	github.com/latchkey-go/latchkey/internal => ../../internal
	github.com/latchkey-go/latchkey/plugins => ../../plugins
	github.com/latchkey-go/latchkey/plugins/accesstoken/verify => ../../plugins/accesstoken/verify
	github.com/latchkey-go/latchkey/providers => ../../providers
	github.com/latchkey-go/latchkey/providers/password => ../../providers/password
	github.com/latchkey-go/latchkey/storage => ../../storage
	github.com/latchkey-go/latchkey/storage/internal => ../../storage/internal
	github.com/latchkey-go/latchkey/ui => ../../ui
)
