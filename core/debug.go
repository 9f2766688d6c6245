package core

import (
	"context"
	"log/slog"
	"maps"
	"slices"
)

// debug writes a line of [Config.Debug] about a request.
func (v *arrival) debug(ctx context.Context, message string, attrs ...slog.Attr) {
	if v.log.debugging {
		v.log.debug(ctx, message, append(v.attrs(), attrs...)...)
	}
}

// debugTokens logs the names of the members of a token response, and no values.
func (v *arrival) debugTokens(ctx context.Context, t *TokenSet) {
	if !v.log.debugging {
		return
	}
	members := slices.Collect(maps.Keys(t.Extra))
	for name, there := range map[string]bool{
		"access_token": t.AccessToken != "", "refresh_token": t.RefreshToken != "", "id_token": t.IDToken != "",
		"token_type": t.TokenType != "", "scope": t.Scope != "", "expires_in": !t.ExpiresAt.IsZero(),
	} {
		if there {
			members = append(members, name)
		}
	}
	slices.Sort(members)
	v.debug(ctx, "token response", slog.Any("members", members))
}

// debugIdentity logs the user that a provider's profile, a form, an email link or a passkey was mapped to.
func (v *arrival) debugIdentity(ctx context.Context, id *identity) {
	v.debug(ctx, "identity", slog.String("type", string(id.account.Type)),
		slog.String("account_id", id.account.ProviderAccountID), slog.String("name", id.user.Name),
		slog.String("email", id.user.Email), slog.String("verified_email", id.account.EmailProved))
}

// debugMember logs the decision of account linking.
func (v *arrival) debugMember(ctx context.Context, who member) {
	v.debug(ctx, "account linking", slog.String("user_id", who.user.ID), slog.Bool("user_created", who.created),
		slog.Bool("session_kept", who.keeps))
}
