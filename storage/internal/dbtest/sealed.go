package dbtest

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/store"
)

// Sealed checks that an application cannot modify the internals of a store. Its type must have no exported field and
// must promote no field of an embedded type. From an unexported type of its package it may promote methods of the
// contract, because the documentation shows those as methods of the store. It may also embed a store of another package
// that is sealed itself, because all exported methods of a store are for applications.
func Sealed(t *testing.T, store core.Store) {
	t.Helper()
	for _, hole := range holes(reflect.TypeOf(store)) {
		t.Error(hole)
	}
}

// holes lists the ways to modify the internals of a type.
func holes(of reflect.Type) (list []string) {
	inside := of
	if inside.Kind() == reflect.Pointer {
		inside = inside.Elem()
	}
	if inside.Kind() != reflect.Struct {
		return nil
	}
	for _, field := range reflect.VisibleFields(inside) {
		if field.IsExported() {
			list = append(list, fmt.Sprintf("%v: any package can set the field %s", inside, field.Name))
		}
		if !field.Anonymous {
			continue
		}
		part, embedded := field.Type, field.Type
		if part.Kind() == reflect.Pointer {
			part = part.Elem()
		}
		if part.Kind() != reflect.Interface {
			embedded = reflect.PointerTo(part)
		}
		foreign := part.Kind() == reflect.Struct && part.PkgPath() != inside.PkgPath()
		if foreign && embedded.Implements(reflect.TypeFor[core.Store]()) {
			list = append(list, holes(embedded)...)
			continue
		}
		for i := range embedded.NumMethod() {
			name := embedded.Method(i).Name
			if part.PkgPath() == inside.PkgPath() && slices.Contains(contract, name) {
				continue
			}
			hole := fmt.Sprintf("%v: any package can call %s, a method of the embedded %s", inside, name, field.Name)
			list = append(list, hole)
		}
	}
	return list
}

// contract are the names of the methods of [core.Store] and its optional interfaces.
var contract = methodsOf(
	reflect.TypeFor[store.Store](), reflect.TypeFor[store.SessionStore](), reflect.TypeFor[store.VerificationTokenStore](),
	reflect.TypeFor[store.AuthenticatorStore](), reflect.TypeFor[store.AuthenticatorDeleter](),
	reflect.TypeFor[store.AccountStore](), reflect.TypeFor[store.UserDeleter](), reflect.TypeFor[store.SessionLister](),
	reflect.TypeFor[store.Transactor](), reflect.TypeFor[store.Cleaner](), reflect.TypeFor[store.SelfCleaner](),
	reflect.TypeFor[store.RecordStore](), reflect.TypeFor[store.EmailLister](), reflect.TypeFor[store.RecordLister](),
	reflect.TypeFor[store.UserFinder](), reflect.TypeFor[store.RecordPairReader](),
)

func methodsOf(interfaces ...reflect.Type) (names []string) {
	for _, of := range interfaces {
		for i := range of.NumMethod() {
			names = append(names, of.Method(i).Name)
		}
	}
	return names
}
