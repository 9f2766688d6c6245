package core

import (
	"cmp"
	"fmt"
	"log/slog"
)

// Types that contain a request or credentials implement fmt.Formatter, slog.LogValuer and encoding.TextMarshaler.
// Printing one never reveals cookies, Authorization headers, queries, form fields, tokens or email addresses.

// String returns the status, without cookies and body.
func (r Response) String() string { return fmt.Sprintf("response with status %d", r.Status) }

// Format writes String for every fmt verb.
func (r Response) Format(f fmt.State, _ rune) { printed(f, r.String()) }

// LogValue returns the status.
func (r Response) LogValue() slog.Value { return slog.GroupValue(slog.Int("status", r.Status)) }

// MarshalText returns String, for encoding/json and similar packages.
func (r Response) MarshalText() ([]byte, error) { return []byte(r.String()), nil }

// String returns the user ID and the account, without the profile and the form fields.
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

// Format writes String for every fmt verb.
func (p SignInParams) Format(f fmt.State, _ rune) { printed(f, p.String()) }

// LogValue returns the user and the account, in their log forms.
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

// MarshalText returns String, for encoding/json and similar packages.
func (p SignInParams) MarshalText() ([]byte, error) { return []byte(p.String()), nil }

// String returns the ID of the provider, without the tokens.
func (t TokenSet) String() string {
	if t.Provider == nil {
		return "tokens"
	}
	return fmt.Sprintf("tokens of provider %q", t.Provider.ID)
}

// Format writes String for every fmt verb, because Extra may contain tokens too.
func (t TokenSet) Format(f fmt.State, _ rune) { printed(f, t.String()) }

// LogValue returns String.
func (t TokenSet) LogValue() slog.Value { return slog.StringValue(t.String()) }

// MarshalText returns String, for encoding/json and similar packages.
func (t TokenSet) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// Format writes a fixed text, because the URL may contain the access token.
func (r UserinfoRequest) Format(f fmt.State, _ rune) { printed(f, "userinfo request") }

// LogValue returns a fixed text, like Format.
func (r UserinfoRequest) LogValue() slog.Value { return slog.StringValue("userinfo request") }

// Format writes the base path, without secrets.
func (a *Auth) Format(f fmt.State, _ rune) {
	if a == nil {
		printed(f, "<nil>")
		return
	}
	printed(f, "auth at "+cmp.Or(a.site.basePath, "/"))
}

// LogValue returns the base path.
func (a *Auth) LogValue() slog.Value {
	if a == nil {
		return slog.AnyValue(nil)
	}
	return slog.GroupValue(slog.String("base_path", cmp.Or(a.site.basePath, "/")))
}

// String returns the fixed text "visit", without data of the request.
func (v *Visit) String() string { return "visit" }

// Format writes String for every fmt verb.
func (v *Visit) Format(f fmt.State, _ rune) { printed(f, v.String()) }

// LogValue returns String.
func (v *Visit) LogValue() slog.Value { return slog.StringValue(v.String()) }
