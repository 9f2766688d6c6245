module github.com/latchkey-go/latchkey/adapters/gin

go 1.26.0
