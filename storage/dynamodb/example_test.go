package dynamodb_test

import (
	"context"
	"log"

	"github.com/aws/aws-sdk-go-v2/aws"
	awsdynamodb "github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/latchkey-go/latchkey/storage/dynamodb"
)

func ExampleNew() {
	var config aws.Config // config.LoadDefaultConfig(ctx), of github.com/aws/aws-sdk-go-v2/config
	store, err := dynamodb.New(awsdynamodb.NewFromConfig(config), dynamodb.Options{})
	if err != nil {
		log.Fatal(err)
	}
	if err := store.Migrate(context.Background()); err != nil {
		log.Fatal(err)
	}
}

// A table of Auth.js's adapter can be used after its adoption.
func ExampleStore_AdoptAuthJS() {
	var config aws.Config
	options := dynamodb.Options{Layout: dynamodb.Layout{Table: "my-table"}}
	store, err := dynamodb.New(awsdynamodb.NewFromConfig(config), options)
	if err != nil {
		log.Fatal(err)
	}
	if err := store.AdoptAuthJS(context.Background()); err != nil {
		log.Fatal(err)
	}
}
