package providers_test

import (
	"maps"
	"net/http"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/providers"
)

// TestEventbriteAddress: of several primary addresses the first counts.
func TestEventbriteAddress(t *testing.T) {
	for _, row := range []struct{ name, profile, want string }{
		{"one primary",
			`{"id":"1","emails":[{"email":"a@example.com","primary":false},{"email":"b@example.com","primary":true}]}`,
			"b@example.com"},
		{"two primaries",
			`{"id":"1","emails":[{"email":"a@example.com","primary":true},{"email":"b@example.com","primary":true}]}`,
			"a@example.com"},
		{"none", `{"id":"1","emails":[{"email":"a@example.com","primary":false}]}`, ""},
		{"no list", `{"id":"1"}`, ""},
	} {
		t.Run(row.name, func(t *testing.T) {
			var profile core.Profile
			if err := profile.UnmarshalJSON([]byte(row.profile)); err != nil {
				t.Fatal(err)
			}
			u, err := providers.Eventbrite().Profile(t.Context(), profile, nil)
			if err != nil || u.Email != row.want {
				t.Errorf("got %v, %v, want %q", u, err, row.want)
			}
		})
	}
}

// TestDiscordPicture: the mapping does not change the profile, and callbacks find the picture in the fetched one.
func TestDiscordPicture(t *testing.T) {
	p := providers.Discord()
	const answer = `{"id":"80351110224678912","username":"nelly","avatar":"a_8342","discriminator":"0"}`
	const picture = "https://cdn.discordapp.com/avatars/80351110224678912/a_8342.gif"

	var profile core.Profile
	if err := profile.UnmarshalJSON([]byte(answer)); err != nil {
		t.Fatal(err)
	}
	before := maps.Clone(profile)
	u, err := p.Profile(t.Context(), profile, nil)
	if err != nil || u.Image != picture {
		t.Errorf("got %v, %v", u, err)
	}
	if len(profile) != len(before) {
		t.Errorf("the mapping made %v of the profile it was given", profile)
	}

	client := &http.Client{Transport: roundTrip(func(*http.Request) string { return answer })}
	tokens := &core.TokenSet{AccessToken: "at-1", Client: client}
	fetched, err := p.FetchUserinfo(t.Context(), &core.UserinfoRequest{Tokens: tokens, URL: p.Userinfo.URL})
	if err != nil || fetched.Text("image_url") != picture {
		t.Errorf("fetched %v, %v", fetched, err)
	}
}
