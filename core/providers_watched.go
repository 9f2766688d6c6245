package core

import (
	"context"
)

// watchProviders puts the watch around what providers, and the functions of the application for them, are asked.
func watchProviders(all []*provider, w watch) {
	if !w.on() {
		return
	}
	for _, p := range all {
		switch {
		case p.oauth != nil:
			p.oauth.watchedBy(w)
		case p.credentials != nil && p.credentials.Admit != nil:
			p.credentials.Admit = watchedAdmit(p.credentials.Admit, w, p.id)
		case p.email != nil && p.email.Send != nil:
			p.email.Send = watchedSend(p.email.Send, w, p.id)
		}
	}
}

type admitter = func(ctx context.Context, fields map[string]string, r *Request) (
	user *User, still func(ctx context.Context) error, err error)

// watchedAdmit makes of "nobody, and no error" the error that the flow would make of it.
func watchedAdmit(admit admitter, w watch, id string) admitter {
	asked := ObservedCall{To: ObservedProvider, Name: "authorize", Provider: id}
	return func(ctx context.Context, fields map[string]string, r *Request) (
		user *User, still func(ctx context.Context) error, err error,
	) {
		user, err = watched(ctx, w, asked, func(ctx context.Context) (user *User, err error) {
			user, still, err = admit(ctx, fields, r)
			if err == nil && user == nil {
				err = errorf(ErrCredentialsSignin, "Authorize refused")
			}
			return user, err
		})
		return user, still, err
	}
}

func watchedSend(
	send func(context.Context, SignInMail) error, w watch, id string,
) func(context.Context, SignInMail) error {
	asked := ObservedCall{To: ObservedProvider, Name: "mail", Provider: id}
	return func(ctx context.Context, m SignInMail) error {
		return watchedOnly(ctx, w, asked, func(ctx context.Context) error { return send(ctx, m) })
	}
}
