package realms

import (
	"encoding/binary"
	"runtime"
	"testing"
)

func TestReplace(t *testing.T) {
	t.Parallel()
	var n Newest[string]
	first, second := new(string), new(string)
	if n.Replace(Key{1}, first) != nil || n.Replace(Key{2}, second) != nil {
		t.Error("a new realm has a value")
	}
	if n.Replace(Key{1}, second) != first || n.Replace(Key{1}, first) != second {
		t.Error("another value")
	}
	runtime.KeepAlive(first)
}

func TestReplaceForgets(t *testing.T) {
	t.Parallel()
	var n Newest[[64]byte]
	n.Replace(Key{1}, new([64]byte))
	runtime.GC()
	runtime.GC()
	if n.Replace(Key{1}, new([64]byte)) != nil {
		t.Error("the value is kept although it is not used")
	}
	value := new([64]byte)
	for i := range maxRealms + 1 {
		var key Key
		binary.BigEndian.PutUint64(key[:], uint64(i))
		n.Replace(key, value)
	}
	if len(n.all) > maxRealms {
		t.Errorf("%d realms", len(n.all))
	}
	runtime.KeepAlive(value)
}
