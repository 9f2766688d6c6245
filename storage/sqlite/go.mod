module github.com/latchkey-go/latchkey/storage/sqlite

go 1.26.0

require (
	github.com/latchkey-go/latchkey/conformance v0.0.0
	github.com/latchkey-go/latchkey/core v0.0.0
	github.com/latchkey-go/latchkey/internal v0.0.0
	github.com/latchkey-go/latchkey/storage v0.0.0
	github.com/latchkey-go/latchkey/storage/internal v0.0.0
	modernc.org/sqlite v1.60.1
)

require (
	github.com/a-h/templ v0.3.977 // indirect
	github.com/dustin/go-humanize v1.1.0 // indirect
	github.com/go-jose/go-jose/v4 v4.1.9 // indirect
	github.com/google/uuid v1.6.0 // indirect
	github.com/latchkey-go/latchkey/ui v0.0.0 // indirect
	github.com/mattn/go-isatty v0.0.24 // indirect
	github.com/ncruces/go-strftime v1.1.0 // indirect
	github.com/remyoudompheng/bigfft v0.0.0-20230129092748-24d4a6f8daec // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/sys v0.49.0 // indirect
	golang.org/x/text v0.43.0 // indirect
	modernc.org/libc v1.79.0 // indirect
	modernc.org/mathutil v1.7.1 // indirect
	modernc.org/memory v1.12.1 // indirect
)

replace (
	github.com/latchkey-go/latchkey/conformance => ../../conformance
	github.com/latchkey-go/latchkey/core => ../../core
	github.com/latchkey-go/latchkey/internal => ../../internal
	github.com/latchkey-go/latchkey/storage => ./..
	github.com/latchkey-go/latchkey/storage/internal => ../internal
	github.com/latchkey-go/latchkey/ui => ../../ui
)
