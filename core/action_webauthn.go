package core

import "context"

// webAuthnOptions answers GET webauthn-options/<provider>. Without a provider, where there is not exactly one for
// passkeys, it is a script that asks wrongly: it gets 400, and the log tells how to ask.
func webAuthnOptions(ctx context.Context, c *call) (*Response, error) {
	if f, ok := c.flow.(ceremonies); ok {
		return f.options(ctx, c)
	}
	err := errorf(ErrInvalidProvider, "webauthn-options needs a provider of type webauthn: "+
		"webauthn-options/<provider id>")
	if c.flow != nil {
		return nil, err
	}
	c.log.failure(ctx, err, c.attrs()...)
	return optionsRefused("Invalid request"), nil
}
