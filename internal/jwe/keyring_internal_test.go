package jwe

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"testing"
)

func TestKeysOfAuthJS(t *testing.T) {
	t.Parallel()
	data, err := os.ReadFile("testdata/vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors struct {
		Keys []struct{ Secret, Salt, Enc, KeyHex, Kid string }
	}
	if err := json.Unmarshal(data, &vectors); err != nil || len(vectors.Keys) == 0 {
		t.Fatalf("%d keys, %v", len(vectors.Keys), err)
	}
	for _, v := range vectors.Keys {
		t.Run(v.Enc+" "+v.Salt, func(t *testing.T) {
			key, short, err := deriveKeys(v.Secret, v.Salt)
			if v.Enc == encGCM {
				key = short
			}
			if err != nil || hex.EncodeToString(key) != v.KeyHex {
				t.Errorf("key %x, %v; want %s", key, err, v.KeyHex)
			}
			k, err := NewKeyring([]string{v.Secret}, v.Salt)
			if err != nil {
				t.Fatal(err)
			}
			all, err := k.derived()
			if err != nil {
				t.Fatal(err)
			}
			kid := all.cbc[0].kid
			if v.Enc == encGCM {
				kid = all.gcm[0].kid
			}
			if kid != v.Kid {
				t.Errorf("kid %s, want %s", kid, v.Kid)
			}
		})
	}
}
