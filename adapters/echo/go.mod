module github.com/latchkey-go/latchkey/adapters/echo

go 1.26.0
