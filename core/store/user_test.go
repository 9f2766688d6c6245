package store_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/latchkey-go/latchkey/core/store"
)

var verified = time.Date(2030, 1, 1, 1, 0, 0, 999_999_999, time.FixedZone("", 3600))

func TestUserJSON(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		user *store.User
		want string
	}{
		{"nobody", &store.User{}, `{}`},
		{"absent and null", &store.User{ID: "1", Null: store.NullName}, `{"id":"1","name":null}`},
		{"a value is not null", &store.User{Name: "Ada", Null: store.NullName}, `{"name":"Ada"}`},
		{"milliseconds, UTC", &store.User{EmailVerified: verified}, `{"emailVerified":"2030-01-01T00:00:00.999Z"}`},
		{
			"as stored", (&store.User{ID: "1"}).AsStored(),
			`{"id":"1","name":null,"email":null,"image":null,"emailVerified":null}`,
		},
		{
			"further members behind, by name", &store.User{ID: "1", Extra: store.Members{"b": []byte("2"), "a": []byte("1.50")}},
			`{"id":"1","a":1.50,"b":2}`,
		},
		{
			"no member twice",
			&store.User{ID: "1", Name: "Ada", Email: "a@b", Image: "i", EmailVerified: verified, Extra: store.Members{
				"id": []byte("9"), "name": []byte("9"), "email": []byte("9"), "image": []byte("9"), "emailVerified": []byte("9"),
			}},
			`{"id":"1","name":"Ada","email":"a@b","image":"i","emailVerified":"2030-01-01T00:00:00.999Z"}`,
		},
		{
			"nor null and a member", (&store.User{Extra: store.Members{"emailVerified": []byte("9")}}).AsStored(),
			`{"name":null,"email":null,"image":null,"emailVerified":null}`,
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := tt.user.MarshalJSON()
			if err != nil || string(got) != tt.want {
				t.Fatalf("got %s, %v; want %s", got, err, tt.want)
			}
			var back store.User
			if err := back.UnmarshalJSON(got); err != nil {
				t.Fatal(err)
			}
			if again, _ := back.MarshalJSON(); string(again) != tt.want {
				t.Errorf("read and written again: %s", again)
			}
		})
	}
}

func TestAppendJSONChoosesTheID(t *testing.T) {
	t.Parallel()
	u := &store.User{ID: "1", Extra: store.Members{"id": []byte("9")}}
	for id, want := range map[string]string{"": `{"id":9}`, "2": `{"id":"2"}`} {
		if got := u.AppendJSON(nil, id); string(got) != want {
			t.Errorf("id %q: %s, want %s", id, got, want)
		}
	}
}

func TestUserReadsNamesExactlyAndOnce(t *testing.T) {
	t.Parallel()
	var u store.User
	if err := u.UnmarshalJSON([]byte(`{"id":"1","ID":"2","name":3,"email":null,"role":"x"}`)); err != nil {
		t.Fatal(err)
	}
	if u.ID != "1" || u.Name != "" || u.Null != store.NullEmail ||
		string(u.Extra["ID"]) != `"2"` || string(u.Extra["name"]) != "3" {
		t.Errorf("got %+v, %s", u, u.Extra)
	}
	for _, text := range []string{`{"id":"1","id":"2"}`, `{"emailVerified":"soon"}`, `[]`, ``} {
		if err := u.UnmarshalJSON([]byte(text)); err == nil || !strings.HasPrefix(err.Error(), "store: user: ") {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestClonesShareNoMap(t *testing.T) {
	t.Parallel()
	u := &store.User{Extra: store.Members{"a": []byte("1")}}
	a := &store.Account{Extra: store.Members{"a": []byte("1")}}
	u.Clone().Extra["a"], a.Clone().Extra["a"] = json.RawMessage("2"), json.RawMessage("2")
	if string(u.Extra["a"]) != "1" || string(a.Extra["a"]) != "1" {
		t.Error("a change of the copy is one of the original")
	}
	if (*store.User)(nil).Clone() != nil || (*store.Account)(nil).Clone() != nil {
		t.Error("a copy of nil is something")
	}
}
