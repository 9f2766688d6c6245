module github.com/latchkey-go/latchkey/storage/memory

go 1.26.0
