module github.com/latchkey-go/latchkey/examples

go 1.26.0

require (
	github.com/latchkey-go/latchkey/adapters/echo v0.0.0
	github.com/latchkey-go/latchkey/adapters/fiber v0.0.0
	github.com/latchkey-go/latchkey/adapters/gin v0.0.0
	github.com/latchkey-go/latchkey/adapters/stdlib v0.0.0
	github.com/latchkey-go/latchkey/conformance/dev v0.0.0
	github.com/latchkey-go/latchkey/core v0.0.0
	github.com/latchkey-go/latchkey/providers v0.0.0
	github.com/latchkey-go/latchkey/storage/sqlite v0.0.0
)

require github.com/latchkey-go/latchkey/ui v0.0.0 // indirect

replace (
	github.com/latchkey-go/latchkey/adapters/echo => ../adapters/echo
	github.com/latchkey-go/latchkey/adapters/fiber => ../adapters/fiber
	github.com/latchkey-go/latchkey/adapters/gin => ../adapters/gin
	github.com/latchkey-go/latchkey/adapters/stdlib => ../adapters/stdlib
	github.com/latchkey-go/latchkey/conformance/dev => ../conformance/dev
	github.com/latchkey-go/latchkey/core => ../core
	github.com/latchkey-go/latchkey/providers => ../providers
	github.com/latchkey-go/latchkey/storage/sqlite => ../storage/sqlite
	github.com/latchkey-go/latchkey/ui => ../ui
)
