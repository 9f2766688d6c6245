module github.com/latchkey-go/latchkey/providers/password

go 1.26.0

require (
	golang.org/x/crypto v0.58.0
	golang.org/x/text v0.43.0
)

require golang.org/x/sys v0.49.0 // indirect
