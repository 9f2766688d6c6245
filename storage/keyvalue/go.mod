module github.com/latchkey-go/latchkey/storage/keyvalue

go 1.26.0

require (
	github.com/latchkey-go/latchkey/conformance v0.0.0
	github.com/latchkey-go/latchkey/core v0.0.0
)

require github.com/latchkey-go/latchkey/ui v0.0.0 // indirect

replace (
	github.com/latchkey-go/latchkey/conformance => ../../conformance
	github.com/latchkey-go/latchkey/core => ../../core
	github.com/latchkey-go/latchkey/ui => ../../ui
)
