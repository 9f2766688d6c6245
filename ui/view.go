package ui

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/a-h/templ"
)

// Page is the common data of all pages.
type Page struct {
	// BasePath is the base path of the auth routes, such as "/auth", without a trailing slash. It may start with the
	// origin.
	BasePath string
	// Theme is the look of the page.
	Theme Theme
	// Nonce is the Content-Security-Policy nonce of this response for the style and script elements. The default is the
	// nonce of templ.WithNonce, or none.
	Nonce string
	// StylesheetURL is the URL of the stylesheet. Core sets it to page.style under BasePath. If it is empty, the page
	// contains [Stylesheet] inline.
	StylesheetURL string
	// SheetURL is the URL of the stylesheet of a [Sheet]: [Stylesheet] and then [SheetStylesheet] in one file. Core sets
	// it to a variant of page.style. If it is empty, a Sheet has StylesheetURL, and contains the additional styles inline.
	SheetURL string
	// ScriptURL is the URL of the script. Core sets it to page.script under BasePath. If it is empty, the page contains
	// [Script] inline. Error pages have no script.
	ScriptURL string
	// Picture is the URL of a picture from another site on the page, such as the user's. It must be an https URL. Core
	// adds its origin to the Content-Security-Policy. It may be empty.
	Picture string
	// HomeURL is the application's URL and Host its name, for [HomeLink]. Core sets both. Theme.HomeURL and Theme.Name
	// replace them.
	HomeURL, Host string
	// RememberMe adds the checkbox "Keep me signed in" to the sign-in page and the sign-up page. Their forms post it as
	// the field rememberMe, with the value "1".
	RememberMe bool
	// Signals tell the browser which passkeys the site accepts. It may be nil.
	Signals *PasskeySignals
	// NewPasskey lets the script create a passkey without a prompt. It may be nil.
	NewPasskey *PasskeyCreation
	// Challenge is the widget of a CAPTCHA service in the forms of the page. If it is nil, there is none.
	Challenge *Challenge
	// OneTap is the prompt on the sign-in page. If it is nil, there is none.
	OneTap *OneTapPrompt
	// Impersonation is the banner of an administrator who uses another user's account. If it is nil, there is none.
	Impersonation *Impersonation
	// Title is the document's title. The default depends on the page.
	Title string
	// Locale is the language of the page. The default is English.
	Locale Locale
}

// Challenge is the widget of a CAPTCHA service. The configuration provides its texts.
type Challenge struct {
	// Script is the URL of the service's script. It turns elements with the class into widgets.
	Script string
	// Class is the class of the element, and SiteKey identifies the site to the service, in the attribute data-sitekey.
	Class, SiteKey string
	// Action says what the form does, in the attribute data-action.
	Action string
	// ScriptSources, FrameSources, StyleSources and ConnectSources are the origins that core adds to the directives
	// script-src, frame-src, style-src and connect-src of the Content-Security-Policy of pages with the widget. Script
	// needs none, because its element has the nonce.
	ScriptSources, FrameSources, StyleSources, ConnectSources []string
}

// challengeStyle is the style of a page with a widget. Widgets are 300 pixels wide: on small screens, they use the
// padding of the card.
const challengeStyle = ".challenge{margin-block:1rem;margin-inline:min(0px,(100% - 300px)/2)}"

// language returns the primary language of the page, such as "pt" (RFC 5646 section 2.2.1).
func (c *Challenge) language(page Page) string {
	primary, _, _ := strings.Cut(page.Locale.tag(), "-")
	return primary
}

// PasskeySignals is the input of the browser's signal methods, which remove and rename passkeys in the user's password
// manager (WebAuthn Level 3 section 5.1.10). The script calls those that the browser has. IDs are in base64url.
type PasskeySignals struct {
	// RPID is the ID of the relying party.
	RPID string `json:"rpId"`
	// Unknown are the IDs of passkeys that the site does not accept.
	Unknown []string `json:"unknown,omitempty"`
	// Users are the user handles of the signed-in user. Accepted are the IDs of all their passkeys: the password manager
	// hides other passkeys with these handles.
	Users    []string `json:"users,omitempty"`
	Accepted []string `json:"accepted,omitempty"`
	// Name and DisplayName are the current names of the user. If Name is empty, the names stay.
	Name        string `json:"name,omitempty"`
	DisplayName string `json:"displayName,omitempty"`
}

// PasskeyCreation is the input of the script that creates a passkey without a prompt, in browsers whose password
// manager has just filled in a password (WebAuthn Level 3 section 5.1.3, conditional mediation).
type PasskeyCreation struct {
	// Options is the URL of the options, and Callback the URL that the new passkey is posted to.
	Options  string `json:"options"`
	Callback string `json:"callback"`
	// RPID is the ID of the relying party.
	RPID string `json:"rpId"`
	// User identifies the user in the browser's storage, which remembers that the browser has refused.
	User string `json:"user"`
}

// jsonOf returns the value of a data attribute for the script.
func jsonOf(v any) string {
	text, err := json.Marshal(v)
	if err != nil { // strings can always be encoded
		panic(err)
	}
	return string(text)
}

// SignInView is the data of the sign-in page.
type SignInView struct {
	Page
	// CSRFToken is the value of the hidden field csrfToken of each form. If the check is disabled, it is empty and there
	// is no field.
	CSRFToken string
	// CallbackURL is the validated URL after the sign-in. OAuth forms contain it.
	CallbackURL string
	// Email is the initial value of email fields.
	Email string
	// Remembered reports that the checkbox of RememberMe is selected, because the user selected it on the page before.
	Remembered bool
	// Error is the type of the error that redirected here, such as "CredentialsSignin", or "". It selects a text and is
	// never shown. Unknown types get a general text. The text is in the form that failed, if the type identifies it, or
	// else above all forms.
	Error string
	// Reference is the short code that the error was logged with. It is shown below the message, so that reports can be
	// matched to the log. It may be empty.
	Reference string
	// Confirms identifies the signed-in user who must authenticate again: the email address, or else the name. It is empty
	// on a page that signs users in. The page then has another heading, and the forms post to the action reauth.
	Confirms string
	// CodeURL is the target of the form that requests a code by email, on a page with Confirms. If it is empty, there is
	// no form.
	CodeURL string
	// GuestURL is the target of the form that continues without an account. If it is empty, there is no form.
	GuestURL string
	// Links are further methods, on a page with Confirms.
	Links []Link
	// SignOutURL is the URL of the sign-out page, for users who must authenticate again. If it is empty, there is no
	// link.
	SignOutURL string
	// SignedIn is the signed-in user. The zero value means none.
	SignedIn Visitor
	// SwitchURL, if SignedIn is set, is the URL of this page with its forms, for a user who wants to use another account.
	// The page then shows only the user, a link to CallbackURL and a link to SwitchURL. If it is empty, the page shows the
	// user above its forms.
	SwitchURL string
	// NextURL is the URL that the form with the email address posts to, on the first of two pages: the password and the
	// button for an email link are on the second one. If it is empty, or if no provider asks for an email address and a
	// password, there is one page.
	NextURL string
	// ChangeURL is the URL of the link that changes Email, on the second page. That page has only the form with the
	// password. It is ignored like NextURL.
	ChangeURL string
	// Providers are shown in this order.
	Providers []Provider

	signUp bool // the buttons are on the page that creates an account
}

// SignOutView is the data of the sign-out page.
type SignOutView struct {
	Page
	// CSRFToken is the value of the hidden field csrfToken of each form. If the check is disabled, it is empty and there
	// is no field.
	CSRFToken string
	// CallbackURL is the URL after the sign-out. It is part of the default Action.
	CallbackURL string
	// Action is the URL that the form posts to. The default is BasePath/signout, with CallbackURL as the parameter
	// callbackUrl.
	Action string
	// URL is the application's URL, for the link "Cancel". If it is empty, there is no link.
	URL string
	// SignedIn is the signed-in user. The zero value means none.
	SignedIn Visitor
}

// ErrorView is the data of the error page.
type ErrorView struct {
	Page
	// Error is the type of the error, such as "AccessDenied". It selects a text and is never shown. Unknown types get a
	// general text.
	Error string
	// Reason specifies the error "Configuration": "expired", "browser" or "used" for a sign-in that can no longer be
	// completed and must be started again. It selects a text and is never shown. If it is empty or unknown, the text of
	// Error is shown.
	Reason string
	// SignedInAs identifies the current user for the error "Forbidden": the email address, or else the name. If it is
	// empty, a general text is shown.
	SignedInAs string
	// BackURL is the URL of the link "Go back" for the error "Forbidden". The default is URL.
	BackURL string
	// SwitchAction is the URL of the form "Use a different account" for the error "Forbidden". The form signs out and
	// continues at CallbackURL. If SwitchAction is empty, there is no form.
	SwitchAction string
	// CSRFToken is the value of the hidden field csrfToken of each form. If the check is disabled, it is empty and there
	// is no field.
	CSRFToken string
	// CallbackURL is the URL after the sign-out of SwitchAction: the forbidden page, which then asks the user to sign in.
	CallbackURL string
	// Detail replaces the text of Error. It is shown unchanged, so it must not contain data from a request. It may be
	// empty.
	Detail string
	// SignInURL is the URL of the button "Sign in". The default is BasePath/signin.
	SignInURL string
	// URL is the application's URL and Host its name, for the link back. If URL is empty, there is no link.
	URL, Host string
	// Reference is the short code that the error was logged with. It is shown so that reports can be matched to the log.
	// It may be empty.
	Reference string
}

// VerifyRequestView is the data of the page that is shown after a sign-in link was sent.
type VerifyRequestView struct {
	Page
	// URL is the application's URL and Host its name, for the link back. If URL is empty, there is no link.
	URL, Host string
	// CSRFToken is the value of the hidden field csrfToken of each form. If the check is disabled, it is empty and there
	// is no field.
	CSRFToken string
	// ResendURL is the target of the form that sends the email again. Its POST has the field email. If ResendURL is
	// empty, there is no form.
	ResendURL string
	// Code is the form for the code in the email. It is nil if the email has no code.
	Code *CodeForm
}

// CodeForm is a form for a code that was sent by email. It posts the field code.
type CodeForm struct {
	// CSRFToken is the value of the hidden field csrfToken of each form. If the check is disabled, it is empty and there
	// is no field.
	CSRFToken string
	// Action is the URL that the form posts to.
	Action string
	// AgainURL is the target of the form that requests a new code. If it is empty, there is no form.
	AgainURL string
	// CancelURL is the URL for another method. If it is empty, there is no link.
	CancelURL string
	// Sent is the address that the code was sent to, if the user of the page may see it.
	Sent string
	// Link reports that the email also has a link.
	Link bool
	// Error is "CodeWrong", "CodeExpired", "TooManyCodes" or "". It selects a text and is never shown.
	Error string
	// Left is the number of attempts left after "CodeWrong", in digits. Any other text is not shown.
	Left string
}

// ConfirmView is the data of the page that confirms a sign-in link.
type ConfirmView struct {
	Page
	// CSRFToken is the value of the hidden field csrfToken of each form. If the check is disabled, it is empty and there
	// is no field.
	CSRFToken string
	// Action is the URL that the form posts to. It is the URL of the link.
	Action string
	// Email is the address that the link was sent to.
	Email string
}

// SwitchView is the data of the page for a signed-in user who has completed a sign-in as another user, for example in
// another tab. The user chooses one of the two accounts.
type SwitchView struct {
	Page
	// CSRFToken is the value of the form's hidden field csrfToken. If the check is disabled, it is empty and there is no
	// field.
	CSRFToken string
	// Current identifies the signed-in user: the email address, or else the name.
	Current string
	// Other identifies the account of the new sign-in in the same way.
	Other string
	// ContinueURL is the URL for continuing with the current account.
	ContinueURL string
	// Action is the URL of the form that signs in with the other account.
	Action string
	// CallbackURL is the URL after the sign-in with the other account.
	CallbackURL string
}

// Provider is a sign-in method on the pages.
type Provider struct {
	// ID is the provider's ID. It is part of the IDs of form fields.
	ID string
	// Name is the display name.
	Name string
	// Type is "oauth", "oidc", "email", "credentials" or "webauthn". Other values mean "oauth".
	Type string
	// SignInURL is the URL that forms of OAuth, OIDC and email providers post to. The default is BasePath/signin/ID.
	SignInURL string
	// CallbackURL is the URL that forms of credentials and WebAuthn providers post to. The default is
	// BasePath/callback/ID.
	CallbackURL string
	// Style is the look of the button of an OAuth or OIDC provider.
	Style Style
	// Fields are the fields of a credentials or WebAuthn form.
	Fields []Field
	// Links are shown below a credentials form.
	Links []Link
	// SignUp is the path below BasePath of the page on which new users sign up with a passkey. If it is set, the sign-in
	// page has a link to it, and a [SignUpPage] has the link instead of a button.
	SignUp string
	// ConditionalUI offers passkeys in the browser's autofill of a WebAuthn form. One provider on a page can use it. Its
	// field needs autocomplete "username webauthn".
	ConditionalUI bool
}

const (
	typeEmail       = "email"
	typeCredentials = "credentials"
	typeWebAuthn    = "webauthn"
)

// hasForm reports whether the provider has a form with fields.
func (p Provider) hasForm() bool {
	return p.Type == typeEmail || p.Type == typeCredentials || p.Type == typeWebAuthn
}

// asksForEmailAndPassword reports whether the form has exactly these two fields.
func (p Provider) asksForEmailAndPassword() bool {
	return len(p.Fields) == 2 && p.address() == 0 && p.Fields[1].Type == "password"
}

// Validate returns the configuration errors in p, one sentence each. It returns nil if there are none.
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
			problems = append(problems, fmt.Sprintf("%sform field %q has a name that is reserved", prefix, f.Name))
		}
		if !slices.Contains(fieldTypes, cmp.Or(f.Type, "text")) {
			problems = append(problems, fmt.Sprintf("%sform field %q has type %q: use one of %s",
				prefix, f.Name, f.Type, strings.Join(fieldTypes, ", ")))
		}
		for _, a := range f.Attributes {
			if !a.allowed() {
				problems = append(problems, fmt.Sprintf("%sform field %q: attribute %q is not allowed", prefix, f.Name, a.Name))
			}
		}
		conditional = conditional || slices.Contains(strings.Fields(f.Autocomplete), "webauthn")
	}
	if p.Type == typeWebAuthn && p.ConditionalUI && !conditional {
		problems = append(problems, prefix+`conditional UI needs a form field with autocomplete "username webauthn"`)
	}
	return problems
}

// Link is a link below a form to another auth page.
type Link struct {
	// Label is the text of the link.
	Label string
	// Action is the path below BasePath, such as "password/forgot".
	Action string
	// Place is "password" for a link next to the label of the form's password, or "foot" for a link at the foot of the
	// page. The default is a link below the form.
	Place string
	// Lead is a text before a link at the foot, such as "New here?". It may be empty.
	Lead string
}

// Field is a field of a credentials or WebAuthn form.
type Field struct {
	// Name is the name of the posted value.
	Name string
	// Label is the label above the field. The default is Name.
	Label string
	// Type is the type of the input element. The default is "text".
	Type string
	// Placeholder is shown in the empty field.
	Placeholder string
	// Value is the initial value.
	Value string
	// Autocomplete is the autocomplete attribute, such as "current-password". If it is empty, browsers guess.
	Autocomplete string
	// Required prevents browsers from posting the form without a value.
	Required bool
	// Attributes are additional attributes of the input element. See [Attribute].
	Attributes []Attribute
}

// Attribute is an additional attribute of an input element. Allowed are autocapitalize, autocorrect, autofocus,
// enterkeyhint, inputmode, list, max, maxlength, min, minlength, multiple, pattern, readonly, size, spellcheck, step,
// title, and names that begin with aria- or data-. Others are left out and reported by [Provider.Validate].
type Attribute struct {
	// Name is the attribute's name in lower case.
	Name string
	// Value is the attribute's value. It is empty for boolean attributes such as autofocus.
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

// recorded returns the attributes of an input element in a form that Auth.js has too. As in Auth.js, they include a
// label attribute, which HTML does not define, and a placeholder even if it is empty.
func (f Field) recorded(l Locale) templ.OrderedAttributes {
	attrs := templ.OrderedAttributes{{Key: "placeholder", Value: l.label(f.Placeholder)}}
	if f.Label != "" {
		attrs = append(attrs, templ.KeyValue[string, any]{Key: "label", Value: l.label(f.Label)})
	}
	f.Placeholder = ""
	return append(attrs, f.attributes(l)...)
}

// attributes returns the attributes of the input element.
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
		case !a.allowed() || a.Name == "autofocus": // one field on a page has the focus, see SignInView.focus
		case a.Value == "":
			add(a.Name, true)
		default:
			add(a.Name, a.Value)
		}
	}
	return attrs
}

// filled sets the value of the field with this name, unless it has one.
func (f Field) filled(name, value string) Field {
	if f.Name == name {
		f.Value = cmp.Or(f.Value, value)
	}
	return f
}

// wantsFocus reports whether the attributes of the field request the focus.
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

// title returns the document's title, with the name of the application if it is set.
func (p Page) title(standard string) string {
	title := cmp.Or(p.Title, standard)
	if p.Theme.Name == "" {
		return title
	}
	return title + " · " + p.Theme.Name
}

// home returns the URL of the application.
func (p Page) home(otherwise string) string { return cmp.Or(p.Theme.HomeURL, otherwise) }

// homeLabel returns the label of the link to the application: its name if it is set, or else its host.
func (p Page) homeLabel(host string) string {
	if p.Theme.Name == "" {
		return host
	}
	return p.Locale.Say(textBackTo.With(p.Theme.Name))
}

// named returns the name of the application, or else the given text.
func (p Page) named(otherwise Text) string { return cmp.Or(p.Theme.Name, p.Locale.Say(otherwise)) }

// signInHeading returns the heading of the sign-in page.
func (v SignInView) signInHeading() string {
	if v.Confirms != "" {
		return v.Locale.Say(textReauth)
	}
	if v.Theme.Name == "" {
		return v.Locale.Say(textSignIn)
	}
	return v.Locale.Say(textSignInTo.With(v.Theme.Name))
}

func (p Page) nonce(ctx context.Context) string { return cmp.Or(p.Nonce, templ.GetNonce(ctx)) }

// action returns the URL of an action, with the provider's ID if it is not empty.
func (p Page) action(name, providerID string) string { return actionURL(p.BasePath, name, providerID) }

func actionURL(basePath, name, providerID string) string {
	address := strings.TrimSuffix(basePath, "/") + "/" + name
	if providerID != "" {
		address += "/" + url.PathEscape(providerID)
	}
	return address
}

// withTarget returns the URL of a link.
func (v SignInView) withTarget(l Link) string { return v.action(l.Action, "") }

// prompts reports whether the message is no failure: a page requires a session, or the user canceled at a provider.
func (v SignInView) prompts() bool { return v.Error == "SessionRequired" || v.Error == canceled }

func (v SignInView) signInURL(p Provider) string {
	return cmp.Or(p.SignInURL, v.action("signin", p.ID))
}
func (v SignInView) callbackURL(p Provider) string {
	return cmp.Or(p.CallbackURL, v.action("callback", p.ID))
}

// offersRemember reports whether the page has the checkbox "Keep me signed in". A user who confirms a session has
// chosen before.
func (v SignInView) offersRemember() bool { return v.RememberMe && v.Confirms == "" }

// remembering returns the index of the provider whose form shows the checkbox: the first form of a password or an email
// address. It is noIndex if the page has only buttons, or creates an account.
func (v SignInView) remembering(blocks []block) int {
	i := slices.IndexFunc(blocks, func(b block) bool { return b.Type == typeCredentials || b.Type == typeEmail })
	if i == noIndex || v.signUp {
		return noIndex
	}
	return blocks[i].index
}

// noIndex is the index of no provider and of no field.
const noIndex = -1

// failed returns the index of the provider with the form that failed: the first of the error's type, or the one that
// shares its form.
func (v SignInView) failed(blocks []block) int {
	kind := ""
	switch v.Error {
	case "CredentialsSignin":
		kind = typeCredentials
	case "EmailSignin":
		kind = typeEmail
	default:
		return noIndex
	}
	for _, b := range blocks {
		if b.Type == kind || b.mail != nil && kind == typeEmail {
			return b.index
		}
	}
	return noIndex
}

// focus returns the initial focus: the first field of the page, or of the form that failed. If the message is above all
// forms, no field gets the focus, because browsers would scroll past the message.
func (v SignInView) focus(blocks []block) (provider, field int) {
	if v.changesAddress() && (v.Error == "" || v.failed(blocks) != noIndex) {
		at := v.withPassword()
		return at, v.Providers[at].password()
	}
	if at := v.failed(blocks); at != noIndex {
		if secret := v.Providers[at].password(); secret != noIndex && v.Email != "" && v.Error == "CredentialsSignin" {
			return at, secret // the address is filled in
		}
		return at, v.Providers[at].firstField()
	}
	if v.Error != "" {
		return noIndex, noIndex
	}
	for _, b := range blocks {
		if at := slices.IndexFunc(b.Fields, Field.wantsFocus); at != noIndex && b.hasForm() {
			return b.index, at
		}
	}
	for _, b := range blocks {
		if at := b.firstField(); at != noIndex {
			return b.index, at
		}
	}
	return noIndex, noIndex
}

// password returns the index of the first password field.
func (p Provider) password() int {
	return slices.IndexFunc(p.Fields, func(f Field) bool { return f.inputType() == "password" })
}

// failedField reports whether a field of the form that failed is marked: the address if no email could be sent, the
// passwords if they may be wrong, or else every field.
func (v SignInView) failedField(b block, i int) bool {
	switch {
	case v.Error == "EmailSignin":
		return i == b.address()
	case b.password() != noIndex && b.address() != noIndex:
		return b.Fields[i].inputType() == "password"
	}
	return true
}

// linksAt returns the links for a place.
func (p Provider) linksAt(place string) (links []Link) {
	for _, l := range p.Links {
		if l.Place == place {
			links = append(links, l)
		}
	}
	if place == "foot" && p.SignUp != "" {
		links = append(links, p.signUpLink())
	}
	return links
}

// signUpLink returns the link to the page on which new users sign up with a passkey.
func (p Provider) signUpLink() Link {
	return Link{Label: "Create an account with a passkey", Action: p.SignUp}
}

// firstField returns the index of the form's first field. In a form for an email address it is 0.
func (p Provider) firstField() int {
	switch {
	case p.Type == typeEmail:
		return 0
	case !p.hasForm():
		return noIndex
	}
	if at := slices.IndexFunc(p.Fields, Field.wantsFocus); at != noIndex {
		return at
	}
	return slices.IndexFunc(p.Fields, func(f Field) bool { return f.inputType() != "hidden" })
}

// formState is the state of a form on the sign-in page.
type formState struct {
	// message is the error message of this form, or "".
	message string
	// focused is the index of the field with the focus, or noIndex.
	focused int
}

func (v SignInView) formState(blocks []block, i int) formState {
	s := formState{focused: noIndex}
	if v.failed(blocks) == i {
		s.message = v.Locale.SignInMessage(v.Error)
		if v.Error == "CredentialsSignin" && v.Providers[i].asksForEmailAndPassword() {
			s.message = v.Locale.Say(textIncorrect)
		}
	}
	if provider, field := v.focus(blocks); provider == i {
		s.focused = field
	}
	return s
}

// alertID is the ID of a form's error message. aria-describedby of the fields refers to it.
const alertID = "signin-error"

// separated reports whether a separator is between two blocks. Only plain buttons are not separated.
func separated(before, after block) bool { return before.hasForm() || after.hasForm() }

func (v SignOutView) action() string {
	return cmp.Or(v.Action, withCallback(v.Page.action("signout", ""), v.CallbackURL))
}

// signInWith returns the label of a provider's button.
func (v SignInView) signInWith(p Provider) string {
	if p.Type == typeCredentials && strings.EqualFold(p.Name, "password") {
		return v.Locale.Say(textSignIn)
	}
	return v.Locale.Say(v.labelOf(p).With(v.Locale.provider(p.Name)))
}

// labelOf returns the label of a provider's button, for its name.
func (v SignInView) labelOf(p Provider) Text {
	if v.signUp && !p.hasForm() {
		return textContinueWith
	}
	if v.signUp {
		return textSignUpWith
	}
	return textSignInWith
}

// sent returns the page with the address. A form for a code has its own text, button and link.
func (v VerifyRequestView) sent(page Page) SentView {
	s := SentView{
		Page: page, CSRFToken: v.CSRFToken, Text: v.Locale.Say(textVerifyBody), Typed: true, ResendURL: v.ResendURL,
		ChangeURL: v.action("signin", "") + "#again", URL: v.URL, Host: v.Host,
	}
	if v.Code != nil {
		s.Text = ""
		if v.Code.AgainURL != "" {
			s.ResendURL = ""
		}
		if v.Code.CancelURL != "" {
			s.ChangeURL = ""
		}
	}
	return s
}

// message returns the text for the form's error, or "".
func (f *CodeForm) message(l Locale) string {
	switch f.Error {
	case "":
		return ""
	case "CodeWrong":
		left := f.Left
		if len(left) != 1 || left[0] < '0' || left[0] > '9' {
			left = "0"
		}
		return l.Say(textCodeWrong.With(left))
	case "TooManyCodes":
		if f.Link {
			return l.Say(textCodeUseLink)
		}
		return l.Say(textCodeTooMany)
	case "CodeExpired":
		return l.Say(textCodeExpired)
	}
	return l.Say(textOther)
}

// noProviders returns the text of a page without sign-in methods.
func (v SignInView) noProviders() string {
	if v.Confirms != "" {
		return v.Locale.Say(textReauthNone)
	}
	return v.Locale.Say(textNoProviders)
}

// isFailure reports whether the site failed, rather than the user's request.
func (v ErrorView) isFailure() bool {
	return v.Error == "" || v.Error == "Configuration" && v.Reason == "" || v.Error == "ServiceUnavailable"
}

func (v ErrorView) signInURL() string { return cmp.Or(v.SignInURL, v.action("signin", "")) }

func (v ErrorView) backURL() string { return cmp.Or(v.BackURL, v.URL) }

// withTitle returns page with heading as its default title.
func withTitle(page Page, heading string) Page {
	page.Title = cmp.Or(page.Title, heading)
	return page
}
