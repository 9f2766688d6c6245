module github.com/latchkey-go/latchkey/providers

go 1.26.0

require github.com/latchkey-go/latchkey/core v0.0.0

require github.com/latchkey-go/latchkey/ui v0.0.0 // indirect

replace (
	github.com/latchkey-go/latchkey/core => ../core
	github.com/latchkey-go/latchkey/ui => ../ui
)
