module github.com/latchkey-go/latchkey/providers/webauthn

go 1.26.0

require (
	github.com/a-h/templ v0.3.977
	github.com/fxamacker/cbor/v2 v2.9.4
	github.com/go-webauthn/webauthn v0.18.2
	github.com/latchkey-go/latchkey/core v0.0.0
	github.com/latchkey-go/latchkey/dev v0.0.0
	github.com/latchkey-go/latchkey/internal v0.0.0
	github.com/latchkey-go/latchkey/plugins v0.0.0
	github.com/latchkey-go/latchkey/storage v0.0.0
	github.com/latchkey-go/latchkey/ui v0.0.0
)

require (
	github.com/go-jose/go-jose/v4 v4.1.9 // indirect
	github.com/go-viper/mapstructure/v2 v2.5.0 // indirect
	github.com/go-webauthn/x v0.3.1 // indirect
	github.com/golang-jwt/jwt/v5 v5.3.1 // indirect
	github.com/google/go-tpm v0.9.8 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/tinylib/msgp v1.6.4 // indirect
	github.com/x448/float16 v0.8.4 // indirect
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)

replace (
	github.com/latchkey-go/latchkey/adapters/stdlib => ../../adapters/stdlib
	github.com/latchkey-go/latchkey/conformance => ../../conformance
	github.com/latchkey-go/latchkey/core => ../../core
	github.com/latchkey-go/latchkey/dev => ../../dev
	github.com/latchkey-go/latchkey/internal => ../../internal
	github.com/latchkey-go/latchkey/plugins => ../../plugins
	github.com/latchkey-go/latchkey/plugins/accesstoken/verify => ../../plugins/accesstoken/verify
	github.com/latchkey-go/latchkey/providers => ./..
	github.com/latchkey-go/latchkey/providers/password => ../password
	github.com/latchkey-go/latchkey/storage => ../../storage
	github.com/latchkey-go/latchkey/storage/internal => ../../storage/internal
	github.com/latchkey-go/latchkey/ui => ../../ui
)
