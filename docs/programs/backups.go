package main

import (
	"context"
	"errors"
	"log"
	"os"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
	"github.com/latchkey-go/latchkey/storage/postgres"
)

func main() {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Minute)
	defer cancel()
	db, err := postgres.Open(os.Getenv("DATABASE_URL"), postgres.Options{})
	if err != nil {
		log.Fatal(err)
	}
	rows, err := db.DeleteExpired(ctx, time.Now())
	if left := (*store.LeftError)(nil); errors.As(err, &left) {
		log.Printf("deleted %d rows before the time was over: %v", rows, left)
		return
	}
	if err != nil {
		log.Fatal(err)
	}
	log.Printf("deleted %d rows", rows)
}
