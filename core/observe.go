package core

import (
	"context"
	"errors"

	"github.com/latchkey-go/latchkey/core/internal/oauth"
	"github.com/latchkey-go/latchkey/core/internal/upstream"
)

// ObservedCall is a call that leaves Latchkey: to the store, to a provider, or to a function of the application that
// asks a service. Config.Observe is told of each. Its texts come from closed lists and the configuration: a visitor
// can add none, and none is personal.
type ObservedCall struct {
	// To is whom the call goes to.
	To ObservedPeer
	// Name is what is asked. Of the store it is the operation as the errors of stores name it, "read session". A whole
	// transaction is "transaction", and what core asks in it is told besides. Of a provider it is "discover" (its
	// addresses, which are kept for a while), "token", "refresh", "verify" (an ID token, whose keys are kept for a while),
	// "userinfo" and, with OAuth 1.0a, "request token"; "authorize" is CredentialsProvider.Authorize, and "mail" is
	// EmailProvider.Send.
	Name string
	// Provider is the ID of a configured provider. It is empty for calls to the store and for emails of plugins.
	Provider string
}

// ObservedPeer is whom an [ObservedCall] goes to.
type ObservedPeer string

// The peers.
const (
	ObservedStore    ObservedPeer = "store"
	ObservedProvider ObservedPeer = "provider"
	ObservedMail     ObservedPeer = "mail" // an attempt to deliver a [BackgroundEmail]; its Name is the LetterKind
)

// CallOutcome is how an [ObservedCall] ended.
type CallOutcome string

// The outcomes.
const (
	CallOK          CallOutcome = "ok"
	CallAbsent      CallOutcome = "absent"      // the store has no such thing: [ErrNotFound]
	CallConflict    CallOutcome = "conflict"    // the store has such a thing: [ErrConflict]
	CallRefused     CallOutcome = "refused"     // a provider or Authorize says no; core undoes a transaction
	CallUnavailable CallOutcome = "unavailable" // no answer, or none in time
	CallCanceled    CallOutcome = "canceled"    // the visitor went away
	CallFailed      CallOutcome = "failed"
)

// watch tells Config.Observe of calls. Its zero value tells nobody.
type watch struct {
	observe func(ctx context.Context, c ObservedCall) (context.Context, func(CallOutcome))
	log     *reporter
}

// on reports whether anybody listens.
func (w watch) on() bool { return w.observe != nil }

// begin tells that a call begins, and returns the context that it gets and what tells how it ended. What goes wrong
// in the application's functions is logged, and the call goes on.
func (w watch) begin(ctx context.Context, c ObservedCall) (within context.Context, end func(CallOutcome)) {
	within = ctx
	w.safely(ctx, func() { within, end = w.observe(ctx, c) })
	if within == nil {
		within = ctx
	}
	told := end
	return within, func(o CallOutcome) {
		if told != nil {
			w.safely(ctx, func() { told(o) })
		}
	}
}

func (w watch) safely(ctx context.Context, tell func()) {
	defer func() {
		if v := recover(); v != nil {
			panicked := &panicError{where: "Observe", value: v, frames: panicFrames()}
			w.log.failure(ctx, errorf(ErrEvent, "observe: %w", panicked))
		}
	}()
	tell()
}

// watched makes a call that is told of where somebody listens. A call that panics has failed.
func watched[T any](
	ctx context.Context, w watch, c ObservedCall, call func(ctx context.Context) (T, error),
) (T, error) {
	if !w.on() {
		return call(ctx)
	}
	ctx, end := w.begin(ctx, c)
	outcome := CallFailed
	defer func() { end(outcome) }()
	v, err := call(ctx)
	outcome = callOutcome(ctx, err)
	return v, err
}

// watchedOnly is watched for calls that return an error alone.
func watchedOnly(ctx context.Context, w watch, c ObservedCall, call func(ctx context.Context) error) error {
	_, err := watched(ctx, w, c, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}

// callOutcome is what is told of an error, whose text may hold anything.
func callOutcome(ctx context.Context, err error) CallOutcome {
	var refusal *oauth.Refusal
	var unanswered *upstream.Error
	var ours *Error
	switch {
	case err == nil:
		return CallOK
	case errors.Is(err, ErrNotFound):
		return CallAbsent
	case errors.Is(err, ErrConflict):
		return CallConflict
	case errors.As(err, &refusal):
		return CallRefused
	case errors.Is(ctx.Err(), context.Canceled):
		return CallCanceled
	case errors.Is(err, ErrStoreUnavailable), errors.Is(err, context.DeadlineExceeded), errors.As(err, &unanswered):
		return CallUnavailable
	case errors.As(err, &ours):
		if outcome, _ := verdict(err, false); outcome == OutcomeRefused {
			return CallRefused
		}
	}
	return CallFailed
}

// HashLoad is how busy the computing of password hashes is, in one process. The provider of module providers/password
// has a method Load that returns it; observe/prometheus and observe/otel ask each provider that has one.
type HashLoad struct {
	// Slots is how many hashes may be computed at once, Busy how many are, and Waiting how many requests wait for a slot.
	Slots, Busy, Waiting int
	// Refused is how many requests were turned away since the start, as too many waited or one waited too long.
	Refused uint64
}

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
