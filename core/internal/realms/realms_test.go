package realms

import (
	"encoding/binary"
	"log/slog"
	"runtime"
	"testing"
)

func encrypted(realm byte, site string) *Auth {
	return &Auth{Realm: [32]byte{realm}, Encrypted: true, Site: site}
}

// TestAdd: the previous Auth of a realm is reported if both are in use at the same time by mistake.
func TestAdd(t *testing.T) {
	t.Parallel()
	store, uncomparable := new(int), func() {}
	for name, row := range map[string]struct {
		first, second *Auth
		want          bool
	}{
		"another site":       {encrypted(1, "a"), encrypted(1, "b"), true},
		"the same site":      {encrypted(1, "a"), encrypted(1, "a"), false},
		"another realm":      {encrypted(1, "a"), encrypted(2, "b"), false},
		"another logger":     {encrypted(1, "a"), &Auth{Realm: [32]byte{1}, Encrypted: true, Logger: slog.Default()}, false},
		"one store":          {&Auth{Store: store, Site: "a"}, &Auth{Store: store, Site: "b"}, true},
		"the same again":     {&Auth{Store: store}, &Auth{Store: store}, false},
		"two stores":         {&Auth{Store: store, Site: "a"}, &Auth{Store: new(int), Site: "b"}, false},
		"no stores":          {&Auth{Site: "a"}, &Auth{Site: "b"}, false},
		"one has a store":    {encrypted(1, "a"), &Auth{Realm: [32]byte{1}, Store: store, Site: "b"}, false},
		"tokens, two stores": {&Auth{Encrypted: true, Store: store}, &Auth{Encrypted: true, Store: new(int)}, true},
		"stores that Go cannot compare": {&Auth{Store: uncomparable, Site: "a"}, &Auth{Store: uncomparable, Site: "b"},
			false},
	} {
		var n Newest
		if n.Add(row.first) || n.Add(row.second) != row.want {
			t.Errorf("%s: %v", name, !row.want)
		}
		runtime.KeepAlive(row.first)
	}
}

// TestOf: a realm depends on the secret, the audience and the cookie.
func TestOf(t *testing.T) {
	t.Parallel()
	all := map[[32]byte]bool{}
	for _, r := range [][3]string{{"a", "b", "c"}, {"x", "b", "c"}, {"a", "x", "c"}, {"a", "b", "x"}, {"ab", "", "c"}} {
		all[Of(r[0], r[1], r[2])] = true
	}
	if len(all) != 5 {
		t.Errorf("%d realms", len(all))
	}
}

func TestNewestForgets(t *testing.T) {
	t.Parallel()
	var n Newest
	n.Add(encrypted(1, "a"))
	runtime.GC()
	runtime.GC()
	value := encrypted(1, "b")
	if n.Add(value) {
		t.Error("an Auth is kept although it is not used")
	}
	for i := range maxRealms + 1 {
		binary.BigEndian.PutUint64(value.Realm[:], uint64(i))
		n.Add(value)
	}
	if len(n.all) > maxRealms {
		t.Errorf("%d realms", len(n.all))
	}
	runtime.KeepAlive(value)
}
