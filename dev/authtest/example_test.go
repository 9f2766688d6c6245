package authtest_test

import (
	"net/http"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/dev/authtest"
)

func ExampleSignIn() {
	test := func(t *testing.T, auth *core.Auth, address string) {
		client := authtest.SignIn(t, auth, address, &core.User{ID: "1", Name: "Ada"})
		answer, err := client.Get(address + "/account")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("answered %d", answer.StatusCode)
		}
	}
	_ = test
}

func ExampleWithKey() {
	test := func(t *testing.T, key core.Secret, address string) {
		client := authtest.WithKey(t, address, key)
		answer, err := client.Get(address + "/api/orders")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = answer.Body.Close() }()
		if answer.StatusCode != http.StatusOK {
			t.Errorf("answered %d", answer.StatusCode)
		}
	}
	_ = test
}
