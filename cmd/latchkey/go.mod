module github.com/latchkey-go/latchkey/cmd/latchkey

go 1.26.0

require (
	github.com/latchkey-go/latchkey/conformance v0.0.0
	github.com/latchkey-go/latchkey/core v0.0.0
	github.com/latchkey-go/latchkey/doctor v0.0.0
	github.com/latchkey-go/latchkey/plugins v0.0.0
	github.com/latchkey-go/latchkey/providers v0.0.0
	github.com/latchkey-go/latchkey/providers/password v0.0.0
	github.com/latchkey-go/latchkey/providers/webauthn v0.0.0
	github.com/latchkey-go/latchkey/storage v0.0.0
	golang.org/x/mod v0.42.0
)

require (
	github.com/a-h/templ v0.3.977 // indirect
	github.com/fxamacker/cbor/v2 v2.9.4 // indirect
	github.com/go-jose/go-jose/v4 v4.1.9 // indirect
	github.com/go-viper/mapstructure/v2 v2.5.0 // indirect
	github.com/go-webauthn/webauthn v0.18.2 // indirect
	github.com/go-webauthn/x v0.3.1 // indirect
	github.com/golang-jwt/jwt/v5 v5.3.1 // indirect
	github.com/google/go-tpm v0.9.8 // indirect
	github.com/google/jsonschema-go v0.4.3 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/latchkey-go/latchkey/internal v0.0.0 // indirect
	github.com/latchkey-go/latchkey/plugins/accesstoken/verify v0.0.0 // indirect
	github.com/latchkey-go/latchkey/ui v0.0.0 // indirect
	github.com/philhofer/fwd v1.2.0 // indirect
	github.com/piglig/go-qr v1.1.0 // indirect
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
	github.com/latchkey-go/latchkey/doctor => ../../doctor
	github.com/latchkey-go/latchkey/internal => ../../internal
	github.com/latchkey-go/latchkey/plugins => ../../plugins
	github.com/latchkey-go/latchkey/plugins/accesstoken/verify => ../../plugins/accesstoken/verify
	github.com/latchkey-go/latchkey/providers => ../../providers
	github.com/latchkey-go/latchkey/providers/password => ../../providers/password
	github.com/latchkey-go/latchkey/providers/webauthn => ../../providers/webauthn
	github.com/latchkey-go/latchkey/storage => ../../storage
	github.com/latchkey-go/latchkey/storage/internal => ../../storage/internal
	github.com/latchkey-go/latchkey/ui => ../../ui
)
