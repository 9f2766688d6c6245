package store_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/core/store"
)

// extra has a field with a tag and one without.
type extra struct {
	Role  string `json:"role"`
	Plain string
}

func TestDecodeMatchesNamesExactly(t *testing.T) {
	t.Parallel()
	m := store.Members{
		"ROLE": []byte(`"admin"`), "Role": []byte(`"admin"`), "role": []byte(`"user"`), "plain": []byte(`"x"`),
	}
	got := extra{Plain: "stays"}
	if err := m.Decode(&got); err != nil || got != (extra{"user", "stays"}) {
		t.Errorf("got %+v, %v", got, err)
	}
	all := map[string]string{}
	if err := m.Decode(&all); err != nil || len(all) != 4 {
		t.Errorf("into a map: %v, %v", all, err)
	}
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		members store.Members
		into    any
	}{
		"no pointer":    {store.Members{"role": []byte(`"user"`)}, extra{}},
		"nil":           {store.Members{"role": []byte(`"user"`)}, nil},
		"nil pointer":   {store.Members{"role": []byte(`"user"`)}, (*extra)(nil)},
		"another shape": {store.Members{"role": []byte(`1`)}, &extra{}},
		"no JSON":       {store.Members{"role": []byte(`"`)}, &extra{}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := tt.members.Decode(tt.into); err == nil {
				t.Errorf("decoded to %+v", tt.into)
			}
		})
	}
}

func TestGet(t *testing.T) {
	t.Parallel()
	m := store.Members{"big": []byte("9007199254740993"), "null": []byte("null"), "list": []byte(`[1,"x"]`)}
	var n int64
	if !m.Get("big", &n) || n != 9007199254740993 {
		t.Errorf("got %d", n)
	}
	for name, into := range map[string]any{
		"null": new(string), "absent": new(string), "big": new(string), "list": &[]int{7},
	} {
		if m.Get(name, into) {
			t.Errorf("%s was read", name)
		}
	}
	list := []int{7}
	if m.Get("list", &list); len(list) != 1 || list[0] != 7 {
		t.Errorf("a list of another shape left %v", list)
	}
	if m.Get("big", nil) || m.Get("big", n) || m.Get("big", (*int64)(nil)) {
		t.Error("read into no pointer")
	}
}

func TestMergeLeavesOtherMembers(t *testing.T) {
	t.Parallel()
	m := store.Members{"role": []byte(`"user"`), "big": []byte("9007199254740993")}
	err := m.Merge(extra{Role: "editor"})
	if err != nil || m.Text("role") != "editor" || string(m["big"]) != "9007199254740993" {
		t.Errorf("after Merge: %s, %v", m, err)
	}
	var none store.Members
	if err := none.Merge(extra{Role: "editor"}); err != nil || none.Text("role") != "editor" {
		t.Errorf("a nil map: %s, %v", none, err)
	}
	if m.Merge("text") == nil || m.Merge(func() {}) == nil || m.Set("f", func() {}) == nil {
		t.Error("what is no object, or no JSON, was merged")
	}
}
