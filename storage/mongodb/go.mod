module github.com/latchkey-go/latchkey/storage/mongodb

go 1.26.0

require (
	github.com/latchkey-go/latchkey/conformance v0.0.0
	github.com/latchkey-go/latchkey/core v0.0.0
	github.com/latchkey-go/latchkey/internal v0.0.0
	github.com/latchkey-go/latchkey/storage/internal v0.0.0
	go.mongodb.org/mongo-driver/v2 v2.9.3
)

require (
	github.com/a-h/templ v0.3.977 // indirect
	github.com/go-jose/go-jose/v4 v4.1.9 // indirect
	github.com/klauspost/compress v1.19.2 // indirect
	github.com/latchkey-go/latchkey/ui v0.0.0 // indirect
	github.com/xdg-go/pbkdf2 v1.0.0 // indirect
	github.com/xdg-go/scram v1.2.0 // indirect
	github.com/xdg-go/stringprep v1.0.4 // indirect
	github.com/youmark/pkcs8 v0.0.0-20240726163527-a2c0da244d78 // indirect
	golang.org/x/crypto v0.59.0 // indirect
	golang.org/x/net v0.62.0 // indirect
	golang.org/x/oauth2 v0.36.0 // indirect
	golang.org/x/sync v0.25.0 // indirect
	golang.org/x/text v0.44.0 // indirect
)

replace (
	github.com/latchkey-go/latchkey/conformance => ../../conformance
	github.com/latchkey-go/latchkey/core => ../../core
	github.com/latchkey-go/latchkey/internal => ../../internal
	github.com/latchkey-go/latchkey/storage => ./..
	github.com/latchkey-go/latchkey/storage/internal => ../internal
	github.com/latchkey-go/latchkey/ui => ../../ui
)
