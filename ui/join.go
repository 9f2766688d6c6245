package ui

import "slices"

// block is a part of the sign-in page: a provider's button or form, or a form that several sign-in methods share
// because they need the same email address.
type block struct {
	// index is the provider's index on the page.
	index int
	Provider
	// mail and passkey are the methods that share the provider's address field, or nil.
	mail, passkey *Provider
	// paired reports whether a plain button is next to another one.
	paired bool
}

// shared reports whether other methods use the form's address field.
func (b block) shared() bool { return b.mail != nil || b.passkey != nil }

// blocks returns the parts of the page. Password, email link and passkey share a form, at the position of the first of
// them. Other methods, and second providers of these types, have their own forms.
func (v SignInView) blocks() []block {
	if v.changesAddress() {
		host := v.withPassword()
		mail, _ := v.sharingMethods(host)
		return []block{{index: host, Provider: v.Providers[host], mail: v.at(mail)}}
	}
	host := v.host()
	mail, passkey := v.sharingMethods(host)
	all, shared := make([]block, 0, len(v.Providers)), false
	for i, p := range v.Providers {
		switch {
		case i != host && i != mail && i != passkey:
			all = append(all, block{index: i, Provider: p})
		case !shared:
			shared = true
			all = append(all, block{index: host, Provider: v.Providers[host], mail: v.at(mail), passkey: v.at(passkey)})
		}
	}
	pair(all)
	return all
}

// withPassword returns the index of the first provider that asks for an email address and a password, or noIndex.
func (v SignInView) withPassword() int {
	return slices.IndexFunc(v.Providers, func(p Provider) bool {
		return p.Type == typeCredentials && p.asksForEmailAndPassword()
	})
}

// asksForAddress reports whether a form asks for the address only, on the first of two pages.
func (v SignInView) asksForAddress(b block) bool {
	return v.NextURL != "" && v.ChangeURL == "" && b.index == v.withPassword()
}

// changesAddress reports whether this is the second of two pages.
func (v SignInView) changesAddress() bool { return v.ChangeURL != "" && v.withPassword() != noIndex }

func (v SignInView) at(i int) *Provider {
	if i == noIndex {
		return nil
	}
	return &v.Providers[i]
}

// host returns the index of the provider with the shared form: the password provider, or else the email provider. It
// returns noIndex if no other method needs an address.
func (v SignInView) host() int {
	host := slices.IndexFunc(v.Providers, func(p Provider) bool {
		return p.Type == typeCredentials && p.address() != noIndex
	})
	if host == noIndex {
		host = slices.IndexFunc(v.Providers, func(p Provider) bool { return p.Type == typeEmail })
	}
	if mail, passkey := v.sharingMethods(host); mail == noIndex && passkey == noIndex {
		return noIndex
	}
	return host
}

// sharingMethods returns the indexes of the methods that share the address field of the host's form.
func (v SignInView) sharingMethods(host int) (mail, passkey int) {
	mail, passkey = noIndex, noIndex
	if host == noIndex {
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

// address returns the index of the field for the email address. Every provider posts it under the name that email
// providers use.
func (p Provider) address() int {
	return slices.IndexFunc(p.Fields, func(f Field) bool {
		return f.Name == emailField && (f.inputType() == "email" || f.inputType() == "text")
	})
}

const emailField = "email"

// takesNames reports whether a user can type a username instead of an address. The type email would refuse it.
func (f Field) takesNames() bool {
	return f.inputType() == "text" && slices.ContainsFunc(f.Attributes, func(a Attribute) bool {
		return a.Name == "autocapitalize"
	})
}

// addressID returns the ID of the address field.
func (b block) addressID() string { return fieldID(emailField, b.ID) }

// ask returns a field for the shared form. The address field has the type email, unless it takes usernames too, and,
// if there is a passkey provider, offers passkeys.
func (b block) ask(f Field) Field {
	if f.Name != emailField {
		return f
	}
	if !f.takesNames() {
		f.Type = "email"
	}
	if f.Autocomplete == "" {
		f.Autocomplete = "username"
	}
	if b.passkey != nil && b.passkey.ConditionalUI {
		f.Autocomplete = "username webauthn"
	}
	return f
}
