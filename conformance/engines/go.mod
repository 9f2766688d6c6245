module github.com/latchkey-go/latchkey/conformance/engines

go 1.26.0
