module github.com/latchkey-go/latchkey/internal

go 1.26.0

require (
	github.com/go-jose/go-jose/v4 v4.1.9
	golang.org/x/net v0.62.0
	golang.org/x/oauth2 v0.36.0
	golang.org/x/sync v0.25.0
	golang.org/x/text v0.43.0
)
