module github.com/latchkey-go/latchkey/storage/sqlite

go 1.26.0
