module github.com/latchkey-go/latchkey/conformance/proof/doctor

go 1.26.0

require (
	github.com/latchkey-go/latchkey/account v0.0.0
	github.com/latchkey-go/latchkey/conformance v0.0.0
	github.com/latchkey-go/latchkey/conformance/app/idp v0.0.0
	github.com/latchkey-go/latchkey/conformance/rig/mail v0.0.0
	github.com/latchkey-go/latchkey/core v0.0.0
	github.com/latchkey-go/latchkey/doctor v0.0.0
	github.com/latchkey-go/latchkey/providers v0.0.0
	github.com/latchkey-go/latchkey/providers/password v0.0.0
	github.com/latchkey-go/latchkey/providers/smtp v0.0.0
	github.com/latchkey-go/latchkey/storage/bbolt v0.0.0
	github.com/latchkey-go/latchkey/storage/memory v0.0.0
	github.com/latchkey-go/latchkey/storage/sqlite v0.0.0
)

require (
	github.com/a-h/templ v0.3.977 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/emersion/go-sasl v0.0.0-20241020182733-b788ff22d5a6 // indirect
	github.com/emersion/go-smtp v0.25.1 // indirect
	github.com/go-jose/go-jose/v4 v4.1.9 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/latchkey-go/latchkey/storage/keyvalue v0.0.0 // indirect
	github.com/latchkey-go/latchkey/storage/sql v0.0.0 // indirect
	github.com/latchkey-go/latchkey/ui v0.0.0 // indirect
	github.com/luikyv/go-oidc v0.23.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/wneessen/go-mail v0.8.1 // indirect
	go.etcd.io/bbolt v1.5.0 // indirect
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
	modernc.org/libc v1.79.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
	modernc.org/sqlite v1.60.1 // indirect
)

replace (
	github.com/latchkey-go/latchkey/account => ../../../account
	github.com/latchkey-go/latchkey/adapters/stdlib => ../../../adapters/stdlib
	github.com/latchkey-go/latchkey/conformance => ../..
	github.com/latchkey-go/latchkey/conformance/app/idp => ../../app/idp
	github.com/latchkey-go/latchkey/conformance/rig/mail => ../../rig/mail
	github.com/latchkey-go/latchkey/core => ../../../core
	github.com/latchkey-go/latchkey/doctor => ../../../doctor
	github.com/latchkey-go/latchkey/providers => ../../../providers
	github.com/latchkey-go/latchkey/providers/password => ../../../providers/password
	github.com/latchkey-go/latchkey/providers/smtp => ../../../providers/smtp
	github.com/latchkey-go/latchkey/storage/bbolt => ../../../storage/bbolt
	github.com/latchkey-go/latchkey/storage/keyvalue => ../../../storage/keyvalue
	github.com/latchkey-go/latchkey/storage/memory => ../../../storage/memory
	github.com/latchkey-go/latchkey/storage/sql => ../../../storage/sql
	github.com/latchkey-go/latchkey/storage/sqlite => ../../../storage/sqlite
	github.com/latchkey-go/latchkey/ui => ../../../ui
)
