package configcheck

import (
	"slices"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/internal/warnings"
	"github.com/latchkey-go/latchkey/core/store"
)

// Provider is what is checked of a provider.
type Provider struct {
	ID   string
	Kind store.ProviderType
	// Proxied reports that the provider uses a redirect proxy.
	Proxied bool
	// ByAddress is OAuthProvider.AllowDangerousEmailAccountLinking.
	ByAddress bool
	// NoAuthorize reports that nothing checks the fields of the form.
	NoAuthorize bool
	// Codes and OwnTokens are EmailProvider.Code, and whether EmailProvider.GenerateToken is set.
	Codes, OwnTokens bool
	// ConditionalUI reports that the sign-in page offers the passkeys of the provider in the autofill.
	ConditionalUI bool
}

func (n *Needs) has(kind store.ProviderType) bool {
	return slices.ContainsFunc(n.Providers, func(p Provider) bool { return p.Kind == kind })
}

func (n *Needs) checkProviders(report Report) {
	conditional := ""
	for i := range n.Providers {
		p := &n.Providers[i]
		if p.NoAuthorize {
			report(autherr.MissingAuthorize, "provider %q has no Authorize function: it checks the fields of the form", p.ID)
		}
		if p.Codes && n.Store != nil && !n.HasRecords {
			report(autherr.MissingStoreMethods, "provider %q has Code, which needs a Store that implements store.RecordStore "+
				"(package core/store): %T does not", p.ID, n.Store)
		}
		if p.OwnTokens && n.Unlimited {
			report(autherr.InvalidConfig, "provider %q has a GenerateToken, whose tokens may be short enough to guess, "+
				"and InsecureNoLimits leaves guessing unlimited: set Callbacks.Limit, or leave InsecureNoLimits off", p.ID)
		}
		if !p.ConditionalUI {
			continue
		}
		if conditional != "" {
			report(autherr.DuplicateConditionalUI, "providers %q and %q both have ConditionalUI: a page can offer one, "+
				"switch it off for the other", conditional, p.ID)
		}
		conditional = p.ID
	}
}

// VerifiesAddresses reports whether a sign-in can be the first to verify an email address.
func (n *Needs) VerifiesAddresses() bool {
	return n.Verifies || n.has(store.TypeEmail) ||
		slices.ContainsFunc(n.Providers, func(p Provider) bool { return p.ByAddress })
}

// LinksAccounts reports whether a user can sign in with an account at a provider, or with a passkey.
func (n *Needs) LinksAccounts() bool {
	return n.has(store.TypeOAuth) || n.has(store.TypeOIDC) || n.has(store.TypeWebAuthn)
}

// Warnings returns a warning for each interface that account linking needs and the Store lacks, and for a plugin that
// promises to end sessions in a configuration that cannot end them. Linking uses a safe alternative.
func (n *Needs) Warnings() (codes []warnings.Code) {
	if n.Store != nil && n.VerifiesAddresses() {
		if !n.HasAccounts && n.LinksAccounts() {
			codes = append(codes, warnings.AccountsNotListed)
		}
		if !n.HasLister && n.Database {
			codes = append(codes, warnings.SessionsNotEnded)
		}
	}
	if n.Unrevoked {
		codes = append(codes, warnings.SessionsNotRevoked)
	}
	return codes
}
