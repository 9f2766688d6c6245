package etcd_test

import (
	"log"

	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/latchkey-go/latchkey/storage/etcd"
)

func ExampleOpen() {
	store, err := etcd.Open("http://localhost:2379", etcd.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()
}

// The store shares the existing client of an application.
func ExampleNew() {
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{"http://localhost:2379"}})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	store, err := etcd.New(client, etcd.Options{Prefix: "app/auth/"})
	if err != nil {
		log.Fatal(err)
	}
	_ = store // core.Config{Store: store}
}
