module github.com/latchkey-go/latchkey/storage/postgres

go 1.26.0

require (
	github.com/jackc/pgx/v5 v5.13.0
	github.com/latchkey-go/latchkey/conformance v0.0.0
	github.com/latchkey-go/latchkey/core v0.0.0
	github.com/latchkey-go/latchkey/internal v0.0.0
	github.com/latchkey-go/latchkey/storage v0.0.0
	github.com/latchkey-go/latchkey/storage/internal v0.0.0
)

require (
	github.com/a-h/templ v0.3.977 // indirect
	github.com/go-jose/go-jose/v4 v4.1.9 // indirect
	github.com/jackc/pgpassfile v1.0.0 // indirect
	github.com/jackc/pgservicefile v0.0.0-20240606120523-5a60cdf6a761 // indirect
	github.com/jackc/puddle/v2 v2.2.3 // indirect
	github.com/latchkey-go/latchkey/ui v0.0.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/text v0.43.0 // indirect
)

replace (
	github.com/latchkey-go/latchkey/conformance => ../../conformance
	github.com/latchkey-go/latchkey/core => ../../core
	github.com/latchkey-go/latchkey/internal => ../../internal
	github.com/latchkey-go/latchkey/storage => ./..
	github.com/latchkey-go/latchkey/storage/internal => ../internal
	github.com/latchkey-go/latchkey/ui => ../../ui
)
