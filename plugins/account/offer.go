package account

import (
	"slices"

	"github.com/latchkey-go/latchkey/core"
)

// offer is the change that the page offers again after re-authentication: a row with a form and its button.
type offer struct {
	name, about   string
	action        string
	fields        [][2]string
	label, button string
	danger        bool
	// passkey is true for the form that adds a passkey, which has its own script.
	passkey bool
}

// offered returns the row for a change that was requested before re-authentication. It is nil if the object of the
// change no longer exists.
func (v *view) offered(u *pendingChange) *offer {
	o := &offer{action: "account/" + u.Action, fields: u.Fields}
	there := false
	switch u.Action {
	case "unlink":
		there = v.offerUnlink(o, u.field("account"))
	case "passkey":
		there = v.offerPasskey(o, u)
	case "end":
		there = v.offerEnd(o, u.field("session"))
	case "link":
		there = v.offerLink(o, u.field("provider"))
	case "email":
		o.name, o.about = u.field("email"), v.locale.Say(textNewEmail)
		o.label, o.button = v.locale.Say(textEmailChange), v.locale.Say(textEmailWhat)
		there = v.mails && o.name != ""
	case "delete":
		o.name, o.about = v.locale.Say(textDanger), v.locale.Say(textDangerHint)
		o.label, o.danger = v.locale.Say(textDelete), true
		there = v.deletes && u.field("phrase") != ""
	}
	if !there {
		return nil
	}
	return o
}

func (v *view) offerUnlink(o *offer, id string) bool {
	i := slices.IndexFunc(v.Accounts, func(l Linked) bool { return l.ID == id && l.Removable })
	if i < 0 {
		return false
	}
	o.name, o.label, o.button = v.Accounts[i].Name, v.locale.Say(textDisconnect), v.Accounts[i].Name
	return true
}

func (v *view) offerPasskey(o *offer, u *pendingChange) bool {
	i := slices.IndexFunc(v.Passkeys, func(p Passkey) bool { return p.ID == u.field("id") })
	if i < 0 {
		return false
	}
	p := v.Passkeys[i]
	o.name, o.button = v.title(p), v.title(p)
	if u.field("remove") != "" {
		o.about, o.label = v.aboutPasskey(p), v.locale.Say(textRemove)
		return p.Removable
	}
	o.about, o.label = u.field("name"), v.locale.Say(textRename)
	return true
}

func (v *view) offerEnd(o *offer, id string) bool {
	if id == "others" {
		o.name, o.label, o.danger = v.locale.Say(textSessions), v.locale.Say(textOthers), true
		return v.others()
	}
	i := slices.IndexFunc(v.Sessions, func(s Session) bool { return s.ID == id })
	if i < 0 {
		return false
	}
	s := v.Sessions[i]
	o.name, o.about = v.device(s.Agent), v.aboutSession(s)
	o.label, o.button = v.locale.Say(textSignOut), o.name+separator+o.about
	return true
}

// offerLink fills the row that links an account or adds a passkey, which is a sign-in.
func (v *view) offerLink(o *offer, provider string) bool {
	if provider == v.passkeys && provider != "" {
		o.name, o.passkey = v.locale.Say(textPasskey), true
		return true
	}
	i := slices.IndexFunc(v.add, func(p core.ProviderInfo) bool { return p.ID == provider })
	if i < 0 {
		return false
	}
	o.name, o.label = v.add[i].Name, v.locale.Say(textAdd.With(v.add[i].Name))
	o.action, o.fields = "signin/"+provider, [][2]string{{"callbackUrl", v.back}}
	return true
}
