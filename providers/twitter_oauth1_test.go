package providers_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// TestTwitterOAuth1 maps profiles; the flow is tested against a real provider in conformance/proof/peers.
func TestTwitterOAuth1(t *testing.T) {
	for _, row := range []struct {
		name, profile string
		want          core.Person
	}{
		{"full",
			`{"id":2244994945,"id_str":"2244994945","name":"X Dev","screen_name":"xdev","email":"dev@example.com",` +
				`"profile_image_url_https":"https://pbs.example.com/p_normal.jpg"}`,
			core.Person{
				AccountID: "2244994945", Name: "X Dev", Email: "dev@example.com", Image: "https://pbs.example.com/p.jpg",
			}},
		{"without permission for e-mail",
			`{"id":9007199254740993,"screen_name":"xdev","profile_image_url_https":"https://pbs.example.com/default"}`,
			core.Person{AccountID: "9007199254740993", Name: "xdev", Image: "https://pbs.example.com/default"}},
		{"nobody", `{}`, core.Person{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			var profile core.Profile
			if err := profile.UnmarshalJSON([]byte(row.profile)); err != nil {
				t.Fatal(err)
			}
			got, err := providers.TwitterOAuth1().Profile(t.Context(), profile, nil)
			if err != nil || got.AccountID != row.want.AccountID || got.Name != row.want.Name ||
				got.Email != row.want.Email || got.Image != row.want.Image {
				t.Errorf("got %+v, error %v", *got, err)
			}
		})
	}
}
