package verify_test

import (
	"fmt"
	"log"
	"net/http"

	"github.com/latchkey-go/latchkey/plugins/accesstoken/verify"
)

func Example() {
	verifier, err := verify.New(verify.Options{Issuer: "https://app.example", Audience: "https://orders.example"})
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	orders := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token := verify.FromContext(r.Context())
		_, _ = fmt.Fprintln(w, "orders of user", token.Subject)
	})
	mux.Handle("GET /orders", verifier.Require("orders:read")(orders))
}
