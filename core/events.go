package core

import "context"

// emit calls an event handler. An error or a panic is logged and has no other effect.
func emit(ctx context.Context, v *arrival, name string, call func() error) {
	if _, err := guarded("event "+name, func() (struct{}, error) { return struct{}{}, call() }); err != nil {
		v.log.failure(ctx, errorf(ErrEvent, "%s: %w", name, err), v.attrs()...)
	}
}

func (e *Events) createdUser(ctx context.Context, v *arrival, u *User) {
	if e.CreateUser != nil {
		emit(ctx, v, "createUser", func() error { return e.CreateUser(ctx, UserEvent{User: u.Clone()}) })
	}
}

func (e *Events) updatedUser(ctx context.Context, v *arrival, u *User) {
	if e.UpdateUser != nil {
		emit(ctx, v, "updateUser", func() error { return e.UpdateUser(ctx, UserEvent{User: u.Clone()}) })
	}
}

func (e *Events) linkedAccount(ctx context.Context, v *arrival, u *User, account *Account, profile *User) {
	if e.LinkAccount != nil {
		emit(ctx, v, "linkAccount", func() error {
			return e.LinkAccount(ctx, LinkAccountEvent{User: u.Clone(), Account: account.Clone(), Profile: profile.Clone()})
		})
	}
}

func (e *Events) signedIn(ctx context.Context, v *arrival, u *User, id *identity, created bool) {
	if e.SignIn != nil {
		emit(ctx, v, "signIn", func() error {
			return e.SignIn(ctx, SignInEvent{
				User: u.Clone(), Account: id.account.Clone(), Profile: id.profile, NewUser: created,
			})
		})
	}
}
