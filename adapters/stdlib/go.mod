module github.com/latchkey-go/latchkey/adapters/stdlib

go 1.26.0
