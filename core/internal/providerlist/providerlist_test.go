package providerlist_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/core/internal/providerlist"
)

func TestAt(t *testing.T) {
	if got := string(providerlist.New(nil).At("https://a.example/auth")); got != "{}" {
		t.Error(got)
	}
	list := providerlist.New([]providerlist.Provider{{"github", "GitHub", "oauth"}, {"mail", `E-"mail"`, "email"}})
	const want = `{"github":{"id":"github","name":"GitHub","type":"oauth",` +
		`"signinUrl":"https://a.example/auth/signin/github","callbackUrl":"https://a.example/auth/callback/github"},` +
		`"mail":{"id":"mail","name":"E-\"mail\"","type":"email",` +
		`"signinUrl":"https://a.example/auth/signin/mail","callbackUrl":"https://a.example/auth/callback/mail"}}`
	if got := string(list.At("https://a.example/auth")); got != want {
		t.Errorf("%s\n%s", got, want)
	}
	if n := testing.AllocsPerRun(10, func() { list.At("https://a.example/auth") }); n > 1 {
		t.Errorf("%v allocations", n)
	}
}
