package ui

import "slices"

// block is what stands between two lines of the sign-in page: a provider's button or form, or the form that several
// ways with one address share.
type block struct {
	// place is that of the provider among those of the page.
	place int
	Provider
	// mail and passkey are the ways that share the provider's field for the address; nil: none.
	mail, passkey *Provider
	// paired is true for a plain button that stands beside another.
	paired bool
}

// shared reports whether the form asks for an address that other ways need too.
func (b block) shared() bool { return b.mail != nil || b.passkey != nil }

// blocks returns what the page shows. Password, e-mail link and passkey ask for the address once, where the first of
// them stands; what is of another kind, or there twice, keeps a form of its own.
func (v SignInView) blocks() []block {
	host := v.host()
	mail, passkey := v.joining(host)
	all, shared := make([]block, 0, len(v.Providers)), false
	for i, p := range v.Providers {
		switch {
		case i != host && i != mail && i != passkey:
			all = append(all, block{place: i, Provider: p})
		case !shared:
			shared = true
			all = append(all, block{place: host, Provider: v.Providers[host], mail: v.at(mail), passkey: v.at(passkey)})
		}
	}
	pair(all)
	return all
}

func (v SignInView) at(i int) *Provider {
	if i == nowhere {
		return nil
	}
	return &v.Providers[i]
}

// host is the place of the provider whose form asks for an address, which others can share: that of a password, else
// that of links by mail. It is nowhere where no other way needs one.
func (v SignInView) host() int {
	host := slices.IndexFunc(v.Providers, func(p Provider) bool {
		return p.Type == typeCredentials && p.address() != nowhere
	})
	if host == nowhere {
		host = slices.IndexFunc(v.Providers, func(p Provider) bool { return p.Type == typeEmail })
	}
	if mail, passkey := v.joining(host); mail == nowhere && passkey == nowhere {
		return nowhere
	}
	return host
}

// joining returns the places of the ways that can share the address of the host's form.
func (v SignInView) joining(host int) (mail, passkey int) {
	mail, passkey = nowhere, nowhere
	if host == nowhere {
		return mail, passkey
	}
	if v.Providers[host].Type == typeCredentials {
		mail = slices.IndexFunc(v.Providers, func(p Provider) bool { return p.Type == typeEmail })
	}
	passkey = slices.IndexFunc(v.Providers, func(p Provider) bool {
		return p.Type == typeWebAuthn && len(p.Fields) == 1 && p.address() == 0
	})
	return mail, passkey
}

// address returns the place of the field for an e-mail address, which every provider posts under the name that e-mail
// providers have for it.
func (p Provider) address() int {
	return slices.IndexFunc(p.Fields, func(f Field) bool {
		return f.Name == emailField && (f.inputType() == "email" || f.inputType() == "text")
	})
}

const emailField = "email"

// addressID is the id of the field for the address.
func (b block) addressID() string { return fieldID(emailField, b.ID) }

// ask is a field as the shared form has it: an address is one, and where there is a passkey it is offered there.
func (b block) ask(f Field) Field {
	if f.Name != emailField {
		return f
	}
	f.Type = "email"
	if f.Autocomplete == "" {
		f.Autocomplete = "username"
	}
	if b.passkey != nil && b.passkey.ConditionalUI {
		f.Autocomplete = "username webauthn"
	}
	return f
}
