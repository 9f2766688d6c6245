package accesstoken

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/accesstoken/verify"
)

// Options configures [New]. Only Audiences is required.
type Options struct {
	// Audiences are the services that tokens can be issued for.
	Audiences []Audience
	// OwnAudience is the ID of the audience that is this application itself: handlers that RequirePrincipal protects
	// accept tokens for it. If it is empty, they accept none.
	OwnAudience string
	// Issuer identifies this application in the claim iss. The default is the origin of Config.URL, such as
	// "https://app.example". It must be an https URL without path, query and fragment, so that services find
	// /.well-known/jwks.json below it; for a loopback host it may be http.
	Issuer string
	// TTL is the lifetime of a token. The default is 5 minutes, the maximum 10 minutes.
	TTL time.Duration
	// Algorithm signs the tokens if Signer is nil. The default is [EdDSA]. After a change, the first key of the new
	// algorithm is used after a day.
	Algorithm Algorithm
	// Signer signs the tokens, for example with a key in a KMS or HSM. Its public key must be an Ed25519 or P-256 key. It
	// is called concurrently, once for each token. If Signer is nil, the plugin generates the keys, and Config.Store must
	// store records.
	Signer crypto.Signer
	// PublishedKeys are further public keys to publish next to that of Signer. To replace the key of Signer, publish the
	// next key here for a day before it becomes the Signer, and the previous key for an hour afterwards.
	PublishedKeys []crypto.PublicKey
}

// Audience is a service that accepts tokens.
type Audience struct {
	// ID is the claim aud: usually the URL of the service, such as "https://orders.example". Tokens for one audience are
	// refused by all others.
	ID string
	// Scopes are the scopes that tokens for this service can have, such as "orders:read".
	Scopes []string
	// Secret lets the service ask whether a token is still valid, at <base path>/access-token/introspect (RFC 7662). It
	// must have at least 32 random bytes. If it is empty, the service cannot ask.
	Secret core.Secret
}

// Algorithm is a signature algorithm (RFC 7518 section 3.1).
type Algorithm string

// The algorithms.
const (
	// EdDSA is Ed25519 (RFC 8037).
	EdDSA Algorithm = "EdDSA"
	// ES256 is ECDSA with P-256 and SHA-256, for services that cannot verify Ed25519.
	ES256 Algorithm = "ES256"
)

const (
	defaultTTL = 5 * time.Minute
	maxTTL     = 10 * time.Minute
)

// Tokens is the plugin. Create it with [New], and add it to Config.Plugins of one Auth. It is safe for concurrent use.
type Tokens struct {
	options Options
	host    *core.PluginHost
	keys    *keys
	// verifiers verify tokens of this application, by audience.
	verifiers map[string]*verify.Verifier
}

// New returns the plugin. [core.New] reports configuration errors in the options.
func New(o Options) *Tokens {
	if o.TTL == 0 {
		o.TTL = defaultTTL
	}
	if o.Algorithm == "" {
		o.Algorithm = EdDSA
	}
	o.Audiences = slices.Clone(o.Audiences)
	for i := range o.Audiences {
		o.Audiences[i].Scopes = slices.Clone(o.Audiences[i].Scopes)
	}
	o.PublishedKeys = slices.Clone(o.PublishedKeys)
	return &Tokens{options: o}
}

// Attach implements [core.Plugin].
func (t *Tokens) Attach(h *core.PluginHost) error {
	if t.host != nil {
		return errors.New("already attached to an Auth: call accesstoken.New for each Auth")
	}
	t.host = h
	t.check(h)
	t.keys = newKeys(h, &t.options)
	h.TrackAuthentication() // for sid, auth_time and amr
	h.AddWellKnown("jwks.json", t.document)
	h.AddAction(core.Action{
		Method: http.MethodPost, Name: actionName, Programs: true, Handle: t.post,
		Summary: "Get an access token for another service", Input: tokenRequest{}, Output: issued{},
	})
	h.AddAction(core.Action{
		Method: http.MethodPost, Name: actionName, Verb: "introspect", Programs: true, Handle: t.postIntrospect,
		Summary: "Introspect an access token (RFC 7662)", Input: introspectionRequest{}, Output: introspection{},
	})
	if t.options.OwnAudience != "" {
		h.AddCredential(core.Credential{Matches: t.matches, Verify: t.verify, Unlimited: true})
	}
	t.verifiers = map[string]*verify.Verifier{}
	for _, a := range t.options.Audiences {
		v, err := verify.New(verify.Options{
			Issuer: t.options.Issuer, Audience: a.ID, Keys: t.published, Now: h.Now,
		})
		if err == nil { // otherwise check has reported why
			t.verifiers[a.ID] = v
		}
	}
	return nil
}

// Advise calls report for each weakness of the configuration, with its fix. Package doctor calls it after New. It reads
// the stored keys and never changes them.
func (t *Tokens) Advise(report func(what, fix string)) {
	if at, err := t.host.URL(""); err == nil && !strings.HasPrefix(at, t.options.Issuer+"/") {
		report("access tokens name an issuer other than the origin of this site, where services request the public keys",
			"leave accesstoken.Options.Issuer empty, or serve /.well-known/jwks.json at the issuer too")
	}
	if t.keys.fixed != nil {
		return
	}
	if _, _, _, err := t.keys.stored(context.Background()); errors.Is(err, errUndecryptable) {
		report("the signing keys of access tokens cannot be decrypted",
			"add the secret that encrypted them to Secrets; if it is lost, delete the record "+kind+" of "+t.options.Issuer)
	}
}

// check reports configuration errors, and sets the default of the issuer.
func (t *Tokens) check(h *core.PluginHost) {
	o := &t.options
	if o.Issuer == "" {
		at, err := h.URL("")
		if err != nil {
			h.AddConfigError("the issuer is unknown: set Config.URL (AUTH_URL=https://app.example) or Options.Issuer")
		} else if u, err := url.Parse(at); err == nil {
			o.Issuer = u.Scheme + "://" + u.Host
		}
	} else if !isIssuer(o.Issuer) {
		h.AddConfigError(fmt.Sprintf("Options.Issuer is %q: use an https URL without path, query and fragment, such as "+
			"https://app.example", o.Issuer))
	}
	if len(o.Audiences) == 0 {
		h.AddConfigError("Options.Audiences is empty: list the services that accept tokens, such as " +
			"{ID: \"https://orders.example\"}")
	}
	for i, a := range o.Audiences {
		if !isText(a.ID) || len(a.ID) > 255 {
			h.AddConfigError(fmt.Sprintf("Options.Audiences[%d].ID is %q: use 1 to 255 printable ASCII characters without "+
				"spaces, such as https://orders.example", i, a.ID))
		}
		if slices.ContainsFunc(o.Audiences[:i], func(before Audience) bool { return before.ID == a.ID }) {
			h.AddConfigError(fmt.Sprintf("Options.Audiences[%d].ID is %q, as in another entry: remove one", i, a.ID))
		}
		if a.Secret != "" {
			if len(a.Secret) < 32 {
				h.AddConfigError(fmt.Sprintf("Options.Audiences[%d].Secret has %d bytes: use at least 32 random bytes, as "+
					"latchkey secret prints", i, len(a.Secret)))
			}
			h.EndsSessions() // otherwise a sign-out would be unknown under StrategyJWT
			if h.Strategy == core.StrategyDatabase && h.SessionLister == nil {
				h.AddConfigError(fmt.Sprintf("Options.Audiences[%d].Secret needs a Store that lists sessions "+
					"(store.SessionLister): leave it out", i))
			}
		}
		for _, s := range a.Scopes {
			if !isScope(s) {
				h.AddConfigError(fmt.Sprintf("Options.Audiences[%d].Scopes contains %q: use segments of lower-case letters, "+
					"digits, dots and hyphens, separated by colons, such as orders:read", i, s))
			}
		}
	}
	if o.OwnAudience != "" && t.audience(o.OwnAudience) == nil {
		h.AddConfigError(fmt.Sprintf("Options.OwnAudience is %q: add it to Options.Audiences", o.OwnAudience))
	}
	if o.TTL < time.Second || o.TTL > maxTTL {
		h.AddConfigError(fmt.Sprintf("Options.TTL is %v: use 1 second to %v, because a token cannot be revoked", o.TTL,
			maxTTL))
	}
	if o.Algorithm != EdDSA && o.Algorithm != ES256 {
		h.AddConfigError(fmt.Sprintf("Options.Algorithm is %q: use accesstoken.EdDSA or accesstoken.ES256", o.Algorithm))
	}
}

// isIssuer reports whether a text is an origin: https, or http for a loopback host.
func isIssuer(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || s != u.Scheme+"://"+u.Host || !isText(s) || len(s) > 255 {
		return false
	}
	host := u.Hostname()
	return u.Scheme == "https" || u.Scheme == "http" &&
		(host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "127.0.0.1" || host == "::1")
}

// isText reports whether s consists of printable ASCII characters without space, quotation mark and backslash.
func isText(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r > '~' || r == '"' || r == '\\' })
}

// isScope reports whether a text can be a scope.
func isScope(s string) bool {
	for segment := range strings.SplitSeq(s, ":") {
		if segment == "" || strings.Trim(segment, "abcdefghijklmnopqrstuvwxyz0123456789.-") != "" {
			return false
		}
	}
	return len(s) <= 100
}
