package core_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

func TestMembersAreExact(t *testing.T) {
	t.Parallel()
	type extra struct {
		Role  string `json:"role"`
		Plain string
	}
	m := core.Members{"ROLE": []byte(`"admin"`), "Role": []byte(`"admin"`), "role": []byte(`"user"`), "plain": []byte(`"x"`), "big": []byte("9007199254740993")}
	var got extra
	if err := m.Decode(&got); err != nil || got.Role != "user" || got.Plain != "" {
		t.Errorf("got %+v", got)
	}
	var n int64
	if !m.Get("big", &n) || n != 9007199254740993 {
		t.Errorf("got %d", n)
	}
	var token core.Token
	if err := token.UnmarshalJSON([]byte(`{"sub":"1","SUB":"2","role":"user","ROLE":"admin","n":1e3}`)); err != nil || token.Subject != "1" {
		t.Errorf("subject %q, %v", token.Subject, err)
	}
	if err := token.UnmarshalJSON([]byte(`{"sub":"1","sub":"2"}`)); err == nil {
		t.Error("a claim that is there twice was accepted")
	}
	if err := m.Merge(extra{Role: "editor"}); err != nil || m.Text("role") != "editor" || string(m["big"]) != "9007199254740993" {
		t.Errorf("after Merge: %s, %v", m["role"], err)
	}
}
