package ui

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"
)

// Page is what all pages have in common.
type Page struct {
	// BasePath is where the actions live, "/auth" for instance: no slash at its end. It may carry the origin in front.
	BasePath string
	// Theme is the look of the page.
	Theme Theme
	// Nonce is the Content-Security-Policy nonce of this answer, for the style and script elements. Empty: the nonce of
	// templ.WithNonce, or none.
	Nonce string
	// StylesheetURL is where the page finds its stylesheet: core names page.style under BasePath. Empty: [Stylesheet] is
	// written into the page.
	StylesheetURL string
	// ScriptURL is where the page finds its script: core names page.script under BasePath. Empty: [Script] is written into
	// the page. Pages about errors have none.
	ScriptURL string
	// Title is the document's title. Empty: a title that fits the page.
	Title string
	// Locale is the language of the page. Zero: English.
	Locale Locale
}

// SignInView is what the sign-in page shows.
type SignInView struct {
	Page
	// CSRFToken goes into every form. Empty: the check is switched off and the field is left out.
	CSRFToken string
	// CallbackURL is where the visitor goes after signing in, already checked. OAuth forms carry it.
	CallbackURL string
	// Email fills the field of e-mail forms beforehand.
	Email string
	// Error is the type of the error that led here, such as "CredentialsSignin". It is looked up, never shown; a name that
	// is not known gets the general text. The text stands in the form that failed where the type tells which, else above
	// all of them. Empty: no error.
	Error string
	// Reference is the short code under which the error was logged, shown beneath its message so that a report can be
	// traced. Empty: none.
	Reference string
	// SignOutURL is the address of the sign-out page, for users who are signed in and have to sign in again. Empty: there
	// is no such link.
	SignOutURL string
	// Providers are shown in this order.
	Providers []Provider
}

// SignOutView is what the sign-out page shows.
type SignOutView struct {
	Page
	// CSRFToken goes into the form. Empty: the check is switched off and the field is left out.
	CSRFToken string
	// CallbackURL is where the visitor goes after signing out. It becomes part of the default Action.
	CallbackURL string
	// Action is where the form posts to. Empty: BasePath/signout, with CallbackURL as its callbackUrl parameter.
	Action string
	// URL is the application's address, where "Cancel" leads. Empty: there is no such link.
	URL string
}

// ErrorView is what the error page shows.
type ErrorView struct {
	Page
	// Error is the type of the error, such as "AccessDenied". It is looked up, never shown; a name that is not known gets
	// the general text.
	Error string
	// Reason narrows "Configuration" down: "expired", "browser" or "used" for a sign-in that can no longer be completed
	// and must be started again. It selects a text and is never shown itself. If it is empty or unknown, the text of
	// Error is shown.
	Reason string
	// SignedInAs names the user who may not open a page, for the error "Forbidden": the email address, else the name.
	// Empty: a general text.
	SignedInAs string
	// BackURL is where "Go back" leads, for the error "Forbidden". Empty: URL.
	BackURL string
	// SwitchAction is where the form of "Use a different account" posts to, for the error "Forbidden": it signs out and
	// continues at CallbackURL. Empty: there is no such form.
	SwitchAction string
	// CSRFToken goes into that form. Empty: the check is switched off and the field is left out.
	CSRFToken string
	// CallbackURL is where that form continues: the page that the user may not open, which asks them to sign in.
	CallbackURL string
	// Detail is a sentence for the visitor in place of the text that Error stands for. It is shown as it is: nothing that
	// a request brought along may be in it. Empty: the text of Error.
	Detail string
	// SignInURL is where "Sign in" leads. Empty: BasePath/signin.
	SignInURL string
	// URL is the application's address, and Host its name, for the way back. Without URL there is none.
	URL, Host string
	// Reference is the short code under which the error was logged, shown so that a report can be traced. Empty: none.
	Reference string
}

// VerifyRequestView is what the page shows that follows the sending of a sign-in link.
type VerifyRequestView struct {
	Page
	// URL is the application's address, and Host its name, for the way back. Without URL there is none.
	URL, Host string
}

// ConfirmView is what the page shows that a sign-in link leads to, where links are confirmed.
type ConfirmView struct {
	Page
	// CSRFToken goes into the form. Empty: the check is switched off and the field is left out.
	CSRFToken string
	// Action is where the form posts to: the link itself.
	Action string
	// Email is the address that the link was sent to.
	Email string
}

// SwitchView is what the page shows to a user who is signed in and has completed a sign-in as another user, in another
// tab for example. The user chooses one of the two accounts.
type SwitchView struct {
	Page
	// CSRFToken goes into the form. Empty: the check is switched off and the field is left out.
	CSRFToken string
	// Current names the user who is signed in: the email address, else the name.
	Current string
	// Other names the account of the new sign-in, in the same way.
	Other string
	// ContinueURL is where the user continues with the current account.
	ContinueURL string
	// Action is where the form posts to that signs in with the other account.
	Action string
	// CallbackURL is where the user goes after the sign-in with the other account.
	CallbackURL string
}

// Provider is one way to sign in, as the pages show it.
type Provider struct {
	// ID is the provider's id; it is part of the ids of form fields.
	ID string
	// Name is what people call it.
	Name string
	// Type is "oauth", "oidc", "email", "credentials" or "webauthn". Anything else is drawn as "oauth".
	Type string
	// SignInURL is where the forms of OAuth, OIDC and e-mail providers post to. Empty: BasePath/signin/ID.
	SignInURL string
	// CallbackURL is where the forms of credentials and WebAuthn providers post to. Empty: BasePath/callback/ID.
	CallbackURL string
	// Style is the look of the button of an OAuth or OIDC provider.
	Style Style
	// Fields are the fields of a credentials or WebAuthn form.
	Fields []Field
	// Links stand beneath a credentials form.
	Links []Link
	// ConditionalUI offers passkeys in the browser's autofill of a WebAuthn form, without a click on its button. One
	// provider of a page can have it; a field needs autocomplete "username webauthn".
	ConditionalUI bool
}

const (
	typeEmail       = "email"
	typeCredentials = "credentials"
	typeWebAuthn    = "webauthn"
)

// hasForm reports whether the provider asks for something before its button can be pressed.
func (p Provider) hasForm() bool {
	return p.Type == typeEmail || p.Type == typeCredentials || p.Type == typeWebAuthn
}

// Validate reports everything that is wrong with how p would be drawn, one sentence each, or nothing.
func (p Provider) Validate() []string {
	prefix := fmt.Sprintf("provider %q: ", p.ID)
	problems := checkColor(nil, prefix+"style background", p.Style.Background)
	problems = checkColor(problems, prefix+"style text", p.Style.Text)
	problems = checkImage(problems, prefix+"style logo", p.Style.Logo)
	if p.Style.Mark != nil && p.Style.Mark.fault() != "" {
		problems = append(problems, prefix+"style mark "+p.Style.Mark.fault())
	}
	conditional := false
	for _, f := range p.Fields {
		if f.Name == "" {
			problems = append(problems, prefix+"a form field has no name")
		}
		if f.Name == "csrfToken" || f.Name == "callbackUrl" {
			problems = append(problems, fmt.Sprintf("%sform field %q has a name that the form itself needs", prefix, f.Name))
		}
		if !slices.Contains(fieldTypes, cmp.Or(f.Type, "text")) {
			problems = append(problems, fmt.Sprintf("%sform field %q has type %q: use one of %s",
				prefix, f.Name, f.Type, strings.Join(fieldTypes, ", ")))
		}
		for _, a := range f.Attributes {
			if !a.allowed() {
				problems = append(problems, fmt.Sprintf("%sform field %q: attribute %q is not passed on", prefix, f.Name, a.Name))
			}
		}
		conditional = conditional || slices.Contains(strings.Fields(f.Autocomplete), "webauthn")
	}
	if p.Type == typeWebAuthn && p.ConditionalUI && !conditional {
		problems = append(problems, prefix+`conditional UI needs a form field with autocomplete "username webauthn"`)
	}
	return problems
}

// Link leads from a form to another page of this package's kind.
type Link struct {
	// Label is its text.
	Label string
	// Action is the path behind BasePath, "password/forgot".
	Action string
}

// Field is one field of a credentials or WebAuthn form.
type Field struct {
	// Name is the name under which the value is posted.
	Name string
	// Label is what stands above the field. Empty: its name.
	Label string
	// Type is the type of the input element. Empty: "text".
	Type string
	// Placeholder is shown in the empty field.
	Placeholder string
	// Value fills the field beforehand.
	Value string
	// Autocomplete says what browsers may fill in, "current-password" for instance. Empty: they guess.
	Autocomplete string
	// Required keeps the browser from posting the form without a value.
	Required bool
	// Attributes are further attributes of the input element; see [Attribute].
	Attributes []Attribute
}

// Attribute is a further attribute of an input element: autocapitalize, autocorrect, autofocus, enterkeyhint,
// inputmode, list, max, maxlength, min, minlength, multiple, pattern, readonly, size, spellcheck, step, title, or one
// whose name begins with aria- or data-. Others are left out and reported by [Provider.Validate].
type Attribute struct {
	// Name is the attribute's name, in lower case.
	Name string
	// Value is its value. Empty for an attribute that is simply present, such as autofocus.
	Value string
}

var (
	fieldTypes = []string{
		"text", "password", "email", "tel", "url", "number", "search", "date", "time", "datetime-local", "month",
		"week", "color", "checkbox", "hidden",
	}

	attributeNames = []string{
		"autocapitalize", "autocorrect", "autofocus", "enterkeyhint", "inputmode", "list", "max", "maxlength",
		"min", "minlength", "multiple", "pattern", "readonly", "size", "spellcheck", "step", "title",
	}
)

func (a Attribute) allowed() bool {
	if slices.Contains(attributeNames, a.Name) {
		return true
	}
	rest, ok := strings.CutPrefix(a.Name, "data-")
	if !ok {
		rest, ok = strings.CutPrefix(a.Name, "aria-")
	}
	return ok && rest != "" && !strings.ContainsFunc(rest, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9') && r != '-'
	})
}

// recorded returns what templ spreads into the input element of a form that Auth.js has too: the label attribute, which
// HTML does not know, and a placeholder even when it is empty are part of the recorded forms.
func (f Field) recorded(l Locale) templ.OrderedAttributes {
	attrs := templ.OrderedAttributes{{Key: "placeholder", Value: l.label(f.Placeholder)}}
	if f.Label != "" {
		attrs = append(attrs, templ.KeyValue[string, any]{Key: "label", Value: l.label(f.Label)})
	}
	f.Placeholder = ""
	return append(attrs, f.attributes(l)...)
}

// attributes returns what templ spreads into the input element.
func (f Field) attributes(l Locale) templ.OrderedAttributes {
	attrs := templ.OrderedAttributes{}
	add := func(name string, value any) {
		attrs = append(attrs, templ.KeyValue[string, any]{Key: name, Value: value})
	}
	if f.Placeholder != "" {
		add("placeholder", l.label(f.Placeholder))
	}
	if f.Value != "" {
		add("value", f.Value)
	}
	if f.Autocomplete != "" {
		add("autocomplete", f.Autocomplete)
	}
	if f.Required {
		add("required", true)
	}
	for _, a := range f.Attributes {
		switch {
		case !a.allowed() || a.Name == "autofocus": // one field of a page has the focus, see SignInView.focus
		case a.Value == "":
			add(a.Name, true)
		default:
			add(a.Name, a.Value)
		}
	}
	return attrs
}

// filled returns the field of that name with a value, unless it has one.
func (f Field) filled(name, value string) Field {
	if f.Name == name {
		f.Value = cmp.Or(f.Value, value)
	}
	return f
}

// wantsFocus reports whether the field was given the focus by its attributes.
func (f Field) wantsFocus() bool {
	return f.inputType() != "hidden" && slices.ContainsFunc(f.Attributes, func(a Attribute) bool {
		return a.Name == "autofocus"
	})
}

func (f Field) label() string     { return cmp.Or(f.Label, f.Name) }
func (f Field) inputType() string { return cmp.Or(f.Type, "text") }

func fieldID(name, providerID string) string {
	return "input-" + name + "-for-" + providerID + "-provider"
}

// title is the document's title, with the name of the application where there is one.
func (p Page) title(standard string) string {
	title := cmp.Or(p.Title, standard)
	if p.Theme.Name == "" {
		return title
	}
	return title + " · " + p.Theme.Name
}

// named is the name of the application, or else what is said of one without a name.
func (p Page) named(otherwise Text) string { return cmp.Or(p.Theme.Name, p.Locale.Say(otherwise)) }

// signInHeading says where one signs in to.
func (p Page) signInHeading() string {
	if p.Theme.Name == "" {
		return p.Locale.Say(textSignIn)
	}
	return p.Locale.Say(textSignInTo.With(p.Theme.Name))
}

func (p Page) nonce(ctx context.Context) string { return cmp.Or(p.Nonce, templ.GetNonce(ctx)) }

// action returns the address of an action, with the provider's id when there is one.
func (p Page) action(name, providerID string) string { return actionURL(p.BasePath, name, providerID) }

func actionURL(basePath, name, providerID string) string {
	address := strings.TrimSuffix(basePath, "/") + "/" + name
	if providerID != "" {
		address += "/" + url.PathEscape(providerID)
	}
	return address
}

func (v SignInView) signInURL(p Provider) string {
	return cmp.Or(p.SignInURL, v.action("signin", p.ID))
}
func (v SignInView) callbackURL(p Provider) string {
	return cmp.Or(p.CallbackURL, v.action("callback", p.ID))
}

// nowhere is the place of no provider and of no field.
const nowhere = -1

// failed returns the place of the provider whose form the error is about: the first of the kind that fails so, or the
// one that it shares a form with.
func (v SignInView) failed(blocks []block) int {
	kind := ""
	switch v.Error {
	case "CredentialsSignin":
		kind = typeCredentials
	case "EmailSignin":
		kind = typeEmail
	default:
		return nowhere
	}
	for _, b := range blocks {
		if b.Type == kind || b.mail != nil && kind == typeEmail {
			return b.place
		}
	}
	return nowhere
}

// focus returns which field of which provider the cursor is in at first: the first of the page, or of the form that
// failed. Where the message stands above everything there is none, as browsers scroll to it and past the message.
func (v SignInView) focus(blocks []block) (provider, field int) {
	if at := v.failed(blocks); at != nowhere {
		return at, v.Providers[at].firstField()
	}
	if v.Error != "" {
		return nowhere, nowhere
	}
	for _, b := range blocks {
		if at := slices.IndexFunc(b.Fields, Field.wantsFocus); at != nowhere && b.hasForm() {
			return b.place, at
		}
	}
	for _, b := range blocks {
		if at := b.firstField(); at != nowhere {
			return b.place, at
		}
	}
	return nowhere, nowhere
}

// firstField returns the place of the field that the form begins with. The one of a form for an e-mail address has
// place 0.
func (p Provider) firstField() int {
	switch {
	case p.Type == typeEmail:
		return 0
	case !p.hasForm():
		return nowhere
	}
	if at := slices.IndexFunc(p.Fields, Field.wantsFocus); at != nowhere {
		return at
	}
	return slices.IndexFunc(p.Fields, func(f Field) bool { return f.inputType() != "hidden" })
}

// spot is what a form of the sign-in page is told about its place on it.
type spot struct {
	// message is what failed, "" unless it was this form.
	message string
	// focused is the place of the field that the cursor is in, or nowhere.
	focused int
}

func (v SignInView) spot(blocks []block, i int) spot {
	s := spot{focused: nowhere}
	if v.failed(blocks) == i {
		s.message = v.Locale.SignInMessage(v.Error)
	}
	if provider, field := v.focus(blocks); provider == i {
		s.focused = field
	}
	return s
}

// alertID is the id of the message that a form shows; its fields are described by it.
const alertID = "signin-error"

// separated reports whether a line stands between two blocks: always, but between two plain buttons.
func separated(before, after block) bool { return before.hasForm() || after.hasForm() }

func (v SignOutView) action() string {
	return cmp.Or(v.Action, withCallback(v.Page.action("signout", ""), v.CallbackURL))
}

// signInWith is the label of the button of a provider.
func (v SignInView) signInWith(p Provider) string {
	return v.Locale.Say(textSignInWith.With(v.Locale.provider(p.Name)))
}

func (v ErrorView) signInURL() string { return cmp.Or(v.SignInURL, v.action("signin", "")) }

func (v ErrorView) backURL() string { return cmp.Or(v.BackURL, v.URL) }
