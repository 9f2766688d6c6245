module github.com/latchkey-go/latchkey/storage/etcd

go 1.26.0
