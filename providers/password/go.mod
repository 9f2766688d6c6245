module github.com/latchkey-go/latchkey/providers/password

go 1.26.0

require (
	github.com/a-h/templ v0.3.977
	github.com/latchkey-go/latchkey/core v0.0.0
	github.com/latchkey-go/latchkey/dev v0.0.0
	github.com/latchkey-go/latchkey/internal v0.0.0
	github.com/latchkey-go/latchkey/storage v0.0.0
	github.com/latchkey-go/latchkey/ui v0.0.0
	golang.org/x/crypto v0.59.0
	golang.org/x/text v0.44.0
)

require (
	github.com/go-jose/go-jose/v4 v4.1.9 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
)

replace (
	github.com/latchkey-go/latchkey/adapters/stdlib => ../../adapters/stdlib
	github.com/latchkey-go/latchkey/conformance => ../../conformance
	github.com/latchkey-go/latchkey/core => ../../core
	github.com/latchkey-go/latchkey/dev => ../../dev
	github.com/latchkey-go/latchkey/internal => ../../internal
	github.com/latchkey-go/latchkey/providers => ./..
	github.com/latchkey-go/latchkey/storage => ../../storage
	github.com/latchkey-go/latchkey/storage/internal => ../../storage/internal
	github.com/latchkey-go/latchkey/ui => ../../ui
)
