module github.com/latchkey-go/latchkey/adapters/fiber

go 1.26.0
