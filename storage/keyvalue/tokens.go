package keyvalue

import (
	"context"

	"github.com/latchkey-go/latchkey/core/store"
)

// tokenName returns the name of a verification token in keys and sets.
func tokenName(identifier, token string) string { return escaped(identifier) + "/" + escaped(token) }

// CreateVerificationToken implements [store.VerificationTokenStore].
func (s *Store) CreateVerificationToken(ctx context.Context, t *store.VerificationToken) error {
	const operation = "create verification token"
	document, err := encodeToken(t)
	if err != nil {
		return s.failed(ctx, operation, err)
	}
	name := tokenName(t.Identifier, t.Token)
	end := expiringTokens.end(t.Expires, name)
	_, err = s.run(ctx, operation, func(ctx context.Context, v *view) ([]string, error) {
		values, err := v.get(ctx, key("token", name))
		if err != nil {
			return nil, err
		}
		if values[0].Found {
			return nil, store.ErrConflict
		}
		v.put(key("token", name), document)
		v.add(allTokens, name)
		v.add(allEnds, end)
		return nil, nil
	})
	return err
}

// UseVerificationToken implements [store.VerificationTokenStore].
func (s *Store) UseVerificationToken(
	ctx context.Context, identifier, token string,
) (*store.VerificationToken, error) {
	take := func(ctx context.Context, v *view) ([]string, error) {
		if impossible(identifier, token) {
			return nil, store.ErrNotFound
		}
		name := tokenName(identifier, token)
		out, err := found(v.get(ctx, key("token", name)))
		if err == nil {
			v.removeToken(name)
		}
		return out, err
	}
	return one(ctx, s, "use verification token", decodeToken, take)
}

func (p *pending) removeToken(name string) {
	p.remove(key("token", name))
	p.drop(allTokens, name)
}

func encodeToken(t *store.VerificationToken) (string, error) {
	var o object
	o.text("identifier", t.Identifier)
	o.text("token", t.Token)
	o.time("expires", t.Expires)
	return o.done()
}

func decodeToken(document string) (*store.VerificationToken, error) {
	d, err := decode[ending](document)
	if err != nil {
		return nil, err
	}
	return &store.VerificationToken{Identifier: d.Identifier, Token: d.Token, Expires: d.Expires}, nil
}
