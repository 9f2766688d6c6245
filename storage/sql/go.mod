module github.com/latchkey-go/latchkey/storage/sql

go 1.26.0

require (
	github.com/latchkey-go/latchkey/core v0.0.0
	github.com/latchkey-go/latchkey/internal v0.0.0
)

replace (
	github.com/latchkey-go/latchkey/core => ../../core
	github.com/latchkey-go/latchkey/internal => ../../internal
	github.com/latchkey-go/latchkey/ui => ../../ui
)
