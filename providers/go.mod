module github.com/latchkey-go/latchkey/providers

go 1.26.0
