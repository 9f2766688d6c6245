module github.com/latchkey-go/latchkey/cmd/latchkey-store

go 1.26.0

require (
	github.com/go-sql-driver/mysql v1.10.0
	github.com/latchkey-go/latchkey/conformance v0.0.0
	github.com/latchkey-go/latchkey/core v0.0.0
	github.com/latchkey-go/latchkey/doctor v0.0.0
	github.com/latchkey-go/latchkey/plugins v0.0.0
	github.com/latchkey-go/latchkey/providers/password v0.0.0
	github.com/latchkey-go/latchkey/providers/smtp v0.0.0
	github.com/latchkey-go/latchkey/storage/bbolt v0.0.0
	github.com/latchkey-go/latchkey/storage/mysql v0.0.0
	github.com/latchkey-go/latchkey/storage/postgres v0.0.0
	github.com/latchkey-go/latchkey/storage/redis v0.0.0
	github.com/latchkey-go/latchkey/storage/sqlite v0.0.0
)

require (
	filippo.io/edwards25519 v1.2.0 // indirect
	github.com/a-h/templ v0.3.977 // indirect
	github.com/cespare/xxhash/v2 v2.3.0 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/go-jose/go-jose/v4 v4.1.9 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/pgx/v5 v5.13.0 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/latchkey-go/latchkey/internal v0.0.0 // indirect
	github.com/latchkey-go/latchkey/providers v0.0.0 // indirect
	github.com/latchkey-go/latchkey/storage v0.0.0 // indirect
	github.com/latchkey-go/latchkey/ui v0.0.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/redis/go-redis/v9 v9.23.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	github.com/wneessen/go-mail v0.8.1 // indirect
	go.etcd.io/bbolt v1.5.0 // indirect
	go.uber.org/atomic v1.12.0 // indirect
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.50.0 // indirect
	golang.org/x/text v0.44.0 // indirect
	modernc.org/libc v1.79.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
	modernc.org/sqlite v1.60.1 // indirect
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
	github.com/latchkey-go/latchkey/providers/smtp => ../../providers/smtp
	github.com/latchkey-go/latchkey/storage => ../../storage
	github.com/latchkey-go/latchkey/storage/bbolt => ../../storage/bbolt
	github.com/latchkey-go/latchkey/storage/internal => ../../storage/internal
	github.com/latchkey-go/latchkey/storage/mysql => ../../storage/mysql
	github.com/latchkey-go/latchkey/storage/postgres => ../../storage/postgres
	github.com/latchkey-go/latchkey/storage/redis => ../../storage/redis
	github.com/latchkey-go/latchkey/storage/sqlite => ../../storage/sqlite
	github.com/latchkey-go/latchkey/ui => ../../ui
)
