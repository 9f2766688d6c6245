package core_test

import (
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

func TestClaimsAreExact(t *testing.T) {
	t.Parallel()
	var token core.Token
	err := token.UnmarshalJSON([]byte(`{"sub":"1","SUB":"2","role":"user","ROLE":"admin","n":1e3}`))
	if err != nil || token.Subject != "1" {
		t.Errorf("subject %q, %v", token.Subject, err)
	}
	if err := token.UnmarshalJSON([]byte(`{"sub":"1","sub":"2"}`)); err == nil {
		t.Error("a claim that is there twice was accepted")
	}
}
