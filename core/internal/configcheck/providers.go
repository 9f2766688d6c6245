package configcheck

import (
	"slices"

	"github.com/latchkey-go/latchkey/core/autherr"
	"github.com/latchkey-go/latchkey/core/store"
)

// Provider is what is checked of a provider.
type Provider struct {
	ID   string
	Kind store.ProviderType
	// Proxied reports that the provider uses a redirect proxy.
	Proxied bool
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
