package core

import (
	"encoding"
	"fmt"
	"log/slog"
	"strings"
)

// What holds a request or credentials says what it is when it is printed, by fmt, slog or encoding/json, and nothing
// that must not reach a log: no cookies, no authorization, no query, no fields of a form, no tokens, no addresses of
// people.

var (
	_ fmt.Formatter          = (*Request)(nil)
	_ encoding.TextMarshaler = (*Request)(nil)
)

// path is the target without its query.
func (r Request) path() string {
	path, _, _ := strings.Cut(r.Target, "?")
	return bounded(path)
}

// String shows method and path: neither query nor headers nor body.
func (r Request) String() string { return fmt.Sprintf("%s %q", r.Method, r.path()) }

// Format shows what String does under every fmt verb.
func (r Request) Format(f fmt.State, _ rune) { printed(f, r.String()) }

// LogValue shows method and path.
func (r Request) LogValue() slog.Value {
	return slog.GroupValue(slog.String("method", r.Method), slog.String("path", r.path()))
}

// MarshalText shows what String does to encoding/json and its relatives.
func (r Request) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// String shows the status: neither cookies nor body.
func (r Response) String() string { return fmt.Sprintf("response with status %d", r.Status) }

// Format shows what String does under every fmt verb.
func (r Response) Format(f fmt.State, _ rune) { printed(f, r.String()) }

// LogValue shows the status.
func (r Response) LogValue() slog.Value { return slog.GroupValue(slog.Int("status", r.Status)) }

// MarshalText shows what String does to encoding/json and its relatives.
func (r Response) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// String shows the attempt, the provider and the peer: neither whose sign-in it is nor the fields of the form.
func (p LimitParams) String() string {
	return fmt.Sprintf("attempt %s at provider %q by %v", p.Attempt, p.Provider, p.Peer)
}

// Format shows what String does under every fmt verb.
func (p LimitParams) Format(f fmt.State, _ rune) { printed(f, p.String()) }

// LogValue shows the attempt, the provider and the peer.
func (p LimitParams) LogValue() slog.Value {
	return slog.GroupValue(
		slog.String("attempt", string(p.Attempt)), slog.String("provider", p.Provider),
		slog.String("peer", p.Peer.String()),
	)
}

// MarshalText shows what String does to encoding/json and its relatives.
func (p LimitParams) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// String shows the user's id and the account: neither profile nor the fields of the form.
func (p SignInParams) String() string {
	id, account := "", ""
	if p.User != nil {
		id = p.User.ID
	}
	if p.Account != nil {
		account = " by " + p.Account.String()
	}
	return fmt.Sprintf("sign-in of user %q%s", id, account)
}

// Format shows what String does under every fmt verb.
func (p SignInParams) Format(f fmt.State, _ rune) { printed(f, p.String()) }

// LogValue shows the user's id and the account.
func (p SignInParams) LogValue() slog.Value {
	var attrs []slog.Attr
	if p.User != nil {
		attrs = append(attrs, slog.Any("user", *p.User))
	}
	if p.Account != nil {
		attrs = append(attrs, slog.Any("account", *p.Account))
	}
	return slog.GroupValue(attrs...)
}

// MarshalText shows what String does to encoding/json and its relatives.
func (p SignInParams) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// String shows whose provider sends it: neither recipient nor link.
func (m SignInMail) String() string { return fmt.Sprintf("sign-in mail of provider %q", m.ProviderID) }

// Format shows what String does under every fmt verb.
func (m SignInMail) Format(f fmt.State, _ rune) { printed(f, m.String()) }

// LogValue shows whose provider sends it.
func (m SignInMail) LogValue() slog.Value {
	return slog.GroupValue(slog.String("provider", m.ProviderID))
}

// MarshalText shows what String does to encoding/json and its relatives.
func (m SignInMail) MarshalText() ([]byte, error) { return []byte(m.String()), nil }

// String shows whose token it is, by id: none of its claims.
func (t Token) String() string { return fmt.Sprintf("token of user %q", t.Subject) }

// Format shows what String does under every fmt verb: access tokens may live in Extra.
func (t Token) Format(f fmt.State, _ rune) { printed(f, t.String()) }

// String shows whose answer it is.
func (t TokenSet) String() string {
	if t.Provider == nil {
		return "tokens"
	}
	return fmt.Sprintf("tokens of provider %q", t.Provider.ID)
}

// Format shows what String does under every fmt verb: tokens may live in Extra too.
func (t TokenSet) Format(f fmt.State, _ rune) { printed(f, t.String()) }

// LogValue shows whose answer it is.
func (t TokenSet) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText shows what String does to encoding/json and its relatives.
func (t TokenSet) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Format shows nothing of the request: its address may hold the access token.
func (r UserinfoRequest) Format(f fmt.State, _ rune) { printed(f, "userinfo request") }

// LogValue shows nothing of the request.
func (r UserinfoRequest) LogValue() slog.Value { return slog.StringValue("userinfo request") }

// Format shows the salt and neither token nor secrets.
func (p DecodeParams) Format(f fmt.State, _ rune) { printed(f, "token sealed for "+p.Salt) }

// LogValue shows the salt.
func (p DecodeParams) LogValue() slog.Value { return slog.GroupValue(slog.String("salt", p.Salt)) }

// Format shows where the routes are, and no secrets.
func (a *Auth) Format(f fmt.State, _ rune) {
	if a == nil {
		printed(f, "<nil>")
		return
	}
	printed(f, "auth at "+or(a.site.basePath, "/"))
}

// LogValue shows where the routes are.
func (a *Auth) LogValue() slog.Value {
	if a == nil {
		return slog.AnyValue(nil)
	}
	return slog.GroupValue(slog.String("base_path", or(a.site.basePath, "/")))
}

// String shows that it is a visit, and nothing of the request.
func (v *Visit) String() string { return "visit" }

// Format shows what String does under every fmt verb.
func (v *Visit) Format(f fmt.State, _ rune) { printed(f, v.String()) }

// LogValue shows what String does.
func (v *Visit) LogValue() slog.Value { return slog.StringValue(v.String()) }
