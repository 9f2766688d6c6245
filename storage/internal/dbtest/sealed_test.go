package dbtest

import (
	"reflect"
	"slices"
	"sync"
	"testing"
)

type (
	part    struct{ inside int }
	helper  struct{}
	open    struct{ Inside int }
	closed  struct{ part }
	helped  struct{ *helper }
	locked  struct{ sync.Mutex }
	opened  struct{ open }
	nested  struct{ closed }
	through struct{ helped }
)

func (p *part) DeleteUser() { p.inside++ }

func (*helper) Reset() {}

func TestMissingMembersOfEncryptedValues(t *testing.T) {
	for _, c := range []struct {
		name  string
		store any
		want  []string
	}{
		{"methods of the contract from a part", &closed{}, nil},
		{"and from a part of a part", &nested{}, nil},
		{"another method of a part", &helped{},
			[]string{"dbtest.helped: any package can call Reset, a method of the embedded helper"}},
		{"methods of another package's type", &locked{}, []string{
			"dbtest.locked: any package can set the field Mutex",
			"dbtest.locked: any package can call Lock, a method of the embedded Mutex",
			"dbtest.locked: any package can call TryLock, a method of the embedded Mutex",
			"dbtest.locked: any package can call Unlock, a method of the embedded Mutex",
		}},
		{"a field of a part", &opened{}, []string{"dbtest.opened: any package can set the field Inside"}},
		{"through a part of a part", &through{}, []string{
			"dbtest.through: any package can call Reset, a method of the embedded helped",
			"dbtest.through: any package can call Reset, a method of the embedded helper",
		}},
		{"no struct", new(int), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := holes(reflect.TypeOf(c.store)); !slices.Equal(got, c.want) {
				t.Errorf("holes %q, want %q", got, c.want)
			}
		})
	}
}
