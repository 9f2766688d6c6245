module github.com/latchkey-go/latchkey/storage/redis

go 1.26.0
