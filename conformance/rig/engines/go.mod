module github.com/latchkey-go/latchkey/conformance/rig/engines

go 1.26.0
