package storetest

import (
	"reflect"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// Sealed proves that an application cannot change the inside of a store: its type has no exported field, and promotes
// no field and no method of what it embeds, which its documentation would not show.
func Sealed(t *testing.T, store core.Store) {
	t.Helper()
	inside := reflect.TypeOf(store)
	if inside.Kind() == reflect.Pointer {
		inside = inside.Elem()
	}
	if inside.Kind() != reflect.Struct {
		return
	}
	for _, field := range reflect.VisibleFields(inside) {
		if field.IsExported() {
			t.Errorf("%v: everybody can set the field %s", inside, field.Name)
		}
		if !field.Anonymous {
			continue
		}
		embedded := field.Type
		if embedded.Kind() != reflect.Pointer && embedded.Kind() != reflect.Interface {
			embedded = reflect.PointerTo(embedded)
		}
		for i := range embedded.NumMethod() {
			t.Errorf("%v: everybody can call %s, a method of the embedded %s", inside, embedded.Method(i).Name, field.Name)
		}
	}
}
