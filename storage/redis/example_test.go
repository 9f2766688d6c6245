package redisstore_test

import (
	"context"
	"log"

	"github.com/redis/go-redis/v9"

	redisstore "github.com/latchkey-go/latchkey/storage/redis"
)

func ExampleOpen() {
	store, err := redisstore.Open("redis://localhost:6379/0", redisstore.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()
}

// The store shares the existing client of an application, here one that finds its server with Sentinel.
func ExampleNew() {
	client := redis.NewFailoverClient(&redis.FailoverOptions{
		MasterName: "app", SentinelAddrs: []string{"localhost:26379"}, ContextTimeoutEnabled: true,
	})
	defer func() { _ = client.Close() }()
	store, err := redisstore.New(client, redisstore.Options{Prefix: "{auth}:"})
	if err != nil {
		log.Fatal(err)
	}
	_ = store // core.Config{Store: store}
}

// The data of Auth.js's adapter for Upstash Redis is copied once.
func ExampleImportAuthJS() {
	client := redis.NewClient(&redis.Options{Addr: "localhost:6379", ContextTimeoutEnabled: true})
	defer func() { _ = client.Close() }()
	store, err := redisstore.New(client, redisstore.Options{})
	if err != nil {
		log.Fatal(err)
	}
	n, err := redisstore.ImportAuthJS(context.Background(), client, "", store)
	if err != nil {
		log.Fatal(err)
	}
	log.Println(n, "records")
}
