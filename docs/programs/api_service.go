package main

import (
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core/token"
)

func main() {
	reader, err := token.NewReader(token.Options{}) // AUTH_SECRET
	if err != nil {
		log.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /reports", func(w http.ResponseWriter, r *http.Request) {
		token, err := reader.Token(r.Context(), r.Header)
		switch {
		case err != nil: // the token could not be checked: this does not mean "not signed in"
			http.Error(w, "Please try again.", http.StatusServiceUnavailable)
		case token == nil:
			w.Header().Set("WWW-Authenticate", "Bearer")
			http.Error(w, "Sign in first.", http.StatusUnauthorized)
		default:
			fmt.Fprintln(w, "Reports of", token.Subject)
		}
	})
	server := &http.Server{Addr: "localhost:4000", Handler: mux, ReadHeaderTimeout: 5 * time.Second}
	log.Fatal(server.ListenAndServe())
}
