package core

import (
	"context"
	"errors"
	"slices"
)

// Any is a guard that lets those pass whom one of the guards lets pass, asked in their order. Where none does, a
// *[StepUp] of one of them is the answer, which the visitor can meet; else what could not be found out; else
// [ErrForbidden]. Any of nothing lets nobody pass.
func Any(guards ...Guard) Guard {
	guards = slices.Clone(guards)
	return func(ctx context.Context, s *Session) error {
		err, weight := ErrForbidden, 0
		for _, ask := range guards {
			objection := ask(ctx, s)
			if objection == nil {
				return nil
			}
			if n := weightOf(objection); n > weight {
				err, weight = objection, n
			}
		}
		return err
	}
}

// weightOf orders objections by how much they leave open.
func weightOf(objection error) int {
	switch {
	case errors.As(objection, new(*StepUp)):
		return 2
	case !errors.Is(objection, ErrForbidden):
		return 1
	}
	return 0
}

// All is a guard that lets those pass whom each of the guards lets pass, as a list of them does: for use within [Any].
func All(guards ...Guard) Guard {
	guards = slices.Clone(guards)
	return func(ctx context.Context, s *Session) error {
		for _, ask := range guards {
			if err := ask(ctx, s); err != nil {
				return err
			}
		}
		return nil
	}
}

// Role is a guard that lets those pass who have one of the roles, compared as they are written. What a role may do is
// a function of T: see [Data.Is].
func Role[T interface{ Roles() []string }](d *Data[T], anyOf ...string) Guard {
	anyOf = slices.Clone(anyOf)
	return d.Is(func(data T) bool {
		return slices.ContainsFunc(data.Roles(), func(role string) bool { return slices.Contains(anyOf, role) })
	})
}
