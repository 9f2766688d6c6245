package core

import "context"

// emit calls an event handler. What goes wrong in it is logged and changes nothing.
func (x *exchange) emit(ctx context.Context, name string, call func() error) {
	if _, err := guarded("event "+name, func() (struct{}, error) { return struct{}{}, call() }); err != nil {
		x.logError(ctx, errorf(EventError, "%s: %w", name, err), x.logAttrs()...)
	}
}

func (x *exchange) createdUser(ctx context.Context, u *User) {
	if x.events.CreateUser != nil {
		x.emit(ctx, "createUser", func() error { return x.events.CreateUser(ctx, UserEvent{User: u.Clone()}) })
	}
}

func (x *exchange) updatedUser(ctx context.Context, u *User) {
	if x.events.UpdateUser != nil {
		x.emit(ctx, "updateUser", func() error { return x.events.UpdateUser(ctx, UserEvent{User: u.Clone()}) })
	}
}

func (x *exchange) linkedAccount(ctx context.Context, u *User, account *Account, profile *User) {
	if x.events.LinkAccount != nil {
		x.emit(ctx, "linkAccount", func() error {
			return x.events.LinkAccount(ctx, LinkAccountEvent{User: u.Clone(), Account: account.Clone(), Profile: profile.Clone()})
		})
	}
}

func (x *exchange) signedIn(ctx context.Context, u *User, id *identity, created bool) {
	if x.events.SignIn != nil {
		x.emit(ctx, "signIn", func() error {
			return x.events.SignIn(ctx, SignInEvent{User: u.Clone(), Account: id.account.Clone(), Profile: id.profile, NewUser: created})
		})
	}
}
