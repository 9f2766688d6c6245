package mongodb_test

import (
	"context"
	"log"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/latchkey-go/latchkey/storage/mongodb"
)

func ExampleOpen() {
	store, err := mongodb.Open("mongodb://localhost/app", mongodb.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	if err := store.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// The store shares the existing client of an application.
func ExampleNew() {
	client, err := mongo.Connect(options.Client().ApplyURI("mongodb://localhost"))
	if err != nil {
		log.Fatal(err)
	}
	store, err := mongodb.New(client.Database("app"), mongodb.Options{Layout: mongodb.Layout{Users: "people"}})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
}
