package providers

import (
	"strings"

	"github.com/latchkey-go/latchkey/core"
)

// Entry is an OAuth or OpenID Connect provider of this package.
type Entry struct {
	// ID is the provider's ID.
	ID string
	// New returns the provider with these options. A provider that requires further arguments is incomplete: see its
	// constructor.
	New func(options ...Options) *core.OAuthProvider
}

// All returns the OAuth and OpenID Connect providers, ordered by ID, for tools and for applications that select
// providers by configuration.
func All() []Entry { return append([]Entry(nil), all...) }

// ByID returns the provider with an ID. ok is false if there is none.
func ByID(id string, options ...Options) (provider *core.OAuthProvider, ok bool) {
	for _, e := range all {
		if e.ID == id {
			return e.New(options...), true
		}
	}
	return nil, false
}

// Variables returns the names of the environment variables that a provider reads, for tools.
func Variables(p *core.OAuthProvider) []string {
	name := "AUTH_" + strings.ToUpper(strings.ReplaceAll(p.ID, "-", "_"))
	names := []string{name + "_ID", name + "_SECRET"}
	if p.DefaultIssuer != "" || usesBase(p) || p.Type == core.TypeOIDC && p.Issuer == "" {
		names = append(names, name+"_ISSUER")
	}
	return names
}

// each returns the options of one provider for each element of options.
func each[T any](options []Options, wider func(Options) T) (all []T) {
	for _, o := range options {
		all = append(all, wider(o))
	}
	return all
}

var all = []Entry{
	{"42-school", FortyTwoSchool},
	{"apple", Apple},
	{"asgardeo", Asgardeo},
	{"atlassian", Atlassian},
	{"auth0", Auth0},
	{"authentik", Authentik},
	{"azure-ad", AzureAD},
	{"azure-ad-b2c", AzureADB2C},
	{"azure-devops", AzureDevOps},
	{"bankid-no", BankIDNorway},
	{"battlenet", BattleNet},
	{"beyondidentity", BeyondIdentity},
	{"bitbucket", Bitbucket},
	{"box", Box},
	{"boxyhq-saml", BoxyHQSAML},
	{"bungie", func(options ...Options) *core.OAuthProvider { return Bungie("", options...) }},
	{"click-up", ClickUp},
	{"cognito", Cognito},
	{"coinbase", Coinbase},
	{"concept2", Concept2},
	{"descope", Descope},
	{"discord", Discord},
	{"dribbble", Dribbble},
	{"dropbox", Dropbox},
	{"duende-identity-server6", DuendeIdentityServer6},
	{"eventbrite", Eventbrite},
	{"eveonline", EVEOnline},
	{"facebook", Facebook},
	{"faceit", FACEIT},
	{"figma", Figma},
	{"foursquare", Foursquare},
	{"freshbooks", FreshBooks},
	{"frontegg", Frontegg},
	{"fusionauth", func(options ...Options) *core.OAuthProvider {
		return FusionAuth(each(options, func(o Options) FusionAuthOptions { return FusionAuthOptions{Options: o} })...)
	}},
	{"github", GitHub},
	{"gitlab", GitLab},
	{"google", Google},
	{"hubspot", HubSpot},
	{"huggingface", HuggingFace},
	{"hydra", Hydra},
	{"identity-server4", IdentityServer4},
	{"instagram", Instagram},
	{"kakao", Kakao},
	{"keycloak", Keycloak},
	{"kinde", Kinde},
	{"line", LINE},
	{"linkedin", LinkedIn},
	{"logto", Logto},
	{"mailchimp", Mailchimp},
	{"mailru", MailRu},
	{"mastodon", Mastodon},
	{"mattermost", Mattermost},
	{"medium", Medium},
	{"microsoft-entra-id", MicrosoftEntraID},
	{"naver", Naver},
	{"netlify", Netlify},
	{"netsuite", func(options ...Options) *core.OAuthProvider { return NetSuite("", "", options...) }},
	{"nextcloud", Nextcloud},
	{"notion", Notion},
	{"okta", Okta},
	{"onelogin", OneLogin},
	{"osso", Osso},
	{"osu", Osu},
	{"passage", Passage},
	{"patreon", Patreon},
	{"ping-id", PingID},
	{"pinterest", Pinterest},
	{"pipedrive", Pipedrive},
	{"reddit", Reddit},
	{"roblox", Roblox},
	{"salesforce", Salesforce},
	{"simplelogin", SimpleLogin},
	{"slack", Slack},
	{"spotify", Spotify},
	{"strava", Strava},
	{"threads", Threads},
	{"tiktok", TikTok},
	{"todoist", Todoist},
	{"trakt", Trakt},
	{"twitch", Twitch},
	{"twitter", func(options ...Options) *core.OAuthProvider {
		return Twitter(each(options, func(o Options) TwitterOptions { return TwitterOptions{Options: o} })...)
	}},
	{"united-effects", UnitedEffects},
	{"vipps", Vipps},
	{"vk", VK},
	{"webex", Webex},
	{"wechat", WeChat},
	{"wikimedia", Wikimedia},
	{"wordpress", WordPress},
	{"workos", WorkOS},
	{"yandex", Yandex},
	{"zitadel", Zitadel},
	{"zoho", Zoho},
	{"zoom", Zoom},
}
