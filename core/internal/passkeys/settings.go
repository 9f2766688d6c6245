// Package passkeys runs the ceremonies of a passkey provider (WebAuthn): it makes their options, stores the challenge
// in a cookie of the browser, and verifies the response. It does not decide who may start a ceremony or who is signed
// in.
package passkeys

import (
	"cmp"
	"encoding/hex"
	"encoding/json"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core/internal/cookies"
	"github.com/latchkey-go/latchkey/core/passkey"
	"github.com/latchkey-go/latchkey/core/token"
	"github.com/latchkey-go/latchkey/internal/once"
	options "github.com/latchkey-go/latchkey/internal/passkey"
	"github.com/latchkey-go/latchkey/internal/weburl"
)

// Settings are the settings of a passkey provider, see core.WebAuthnProvider.
type Settings struct {
	ID                                                     string
	Verifier                                               passkey.Verifier
	RelyingParty                                           passkey.RelyingParty
	Timeout                                                time.Duration
	UserVerification, ResidentKey, Attachment, Attestation string
	RequireUserVerification                                bool
	// HideUsers means that options do not reveal which addresses have an account.
	HideUsers bool
	// Labels means that the address that a user without a session types is only a label for their passkeys.
	Labels                                           bool
	Hints                                            []string
	Algorithms                                       []int
	RegistrationExtensions, AuthenticationExtensions map[string]any
}

// Provider runs the ceremonies of a passkey provider.
type Provider struct {
	Settings
	now    func() time.Time
	random io.Reader
	// used contains the challenges that were answered in this process, until they expire. If several processes serve
	// one site, the signature counter of the authenticator prevents replays between them.
	used once.Memory[string, struct{}]
}

// maxUsed is the number of answered challenges to remember. Only challenges with a verified response count.
const maxUsed = 1 << 16

const defaultTimeout = 5 * time.Minute

var (
	coseAlgorithms = []int{-8, -7, -257}
	demands        = []string{"required", "preferred", "discouraged"}
	hints          = []string{"client-device", "hybrid", "security-key"}
)

// The identifiers of apps. An Android package has at least two parts.
var (
	androidPackage = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)+$`)
	appleApp       = regexp.MustCompile(`^[A-Z0-9]{10}\.[A-Za-z0-9][A-Za-z0-9-]*(\.[A-Za-z0-9-]+)*$`)
	fingerprint    = regexp.MustCompile(`^([0-9A-F]{2}:){31}[0-9A-F]{2}$`)
)

// New returns a provider with the settings s, completed with their defaults. It calls report for each configuration
// error.
func New(
	s Settings, now func() time.Time, random io.Reader, report func(format string, args ...any),
) *Provider {
	p := &Provider{Settings: s, now: now, random: random}
	p.used.Now, p.used.Max = now, maxUsed
	p.Timeout = cmp.Or(p.Timeout, defaultTimeout)
	p.UserVerification, p.ResidentKey = cmp.Or(p.UserVerification, "preferred"), cmp.Or(p.ResidentKey, "preferred")
	p.Attestation = cmp.Or(p.Attestation, "none")
	if p.Algorithms == nil {
		p.Algorithms = coseAlgorithms
	}
	for _, demand := range [][2]string{{"UserVerification", p.UserVerification}, {"ResidentKey", p.ResidentKey}} {
		if !slices.Contains(demands, demand[1]) {
			report("%s is %q: use %s", demand[0], demand[1], strings.Join(demands, ", "))
		}
	}
	p.Hints = slices.Clone(p.Hints)
	for i, hint := range p.Hints {
		if !slices.Contains(hints, hint) {
			report("Hints[%d] is %q: use %s", i, hint, strings.Join(hints, ", "))
		}
	}
	p.RelyingParty.Origins = slices.Clone(p.RelyingParty.Origins)
	for i, origin := range p.RelyingParty.Origins {
		if !options.IsOrigin(origin) {
			report("RelyingParty.Origins[%d] is %q: write an https origin as browsers send it, such as "+
				"https://www.app.example, or android:apk-key-hash: and the SHA-256 of the signing certificate in base64url "+
				"without padding", i, origin)
		}
	}
	p.addApps(report)
	return p
}

// addApps validates the apps of the relying party, and adds the origins of the Android apps to Origins.
func (p *Provider) addApps(report func(format string, args ...any)) {
	rp := &p.RelyingParty
	rp.AndroidApps, rp.AppleApps = slices.Clone(rp.AndroidApps), slices.Clone(rp.AppleApps)
	for i := range rp.AndroidApps {
		app := &rp.AndroidApps[i]
		app.Certificates = slices.Clone(app.Certificates)
		if !androidPackage.MatchString(app.Package) || len(app.Certificates) == 0 {
			report("RelyingParty.AndroidApps[%d]: Package is %q with %d Certificates: use the application ID, such as "+
				"com.example.app, and at least one fingerprint", i, app.Package, len(app.Certificates))
		}
		for j, text := range app.Certificates {
			if !fingerprint.MatchString(text) {
				report("RelyingParty.AndroidApps[%d].Certificates[%d] is %q: use the SHA-256 fingerprint, 32 bytes in "+
					"upper-case hex separated by colons", i, j, text)
				continue
			}
			sum, _ := hex.DecodeString(strings.ReplaceAll(text, ":", "")) // fingerprint has only pairs of hex digits
			if origin := options.AndroidOrigin(sum); !slices.Contains(rp.Origins, origin) {
				rp.Origins = append(rp.Origins, origin)
			}
		}
	}
	for i, app := range rp.AppleApps {
		if !appleApp.MatchString(app) {
			report("RelyingParty.AppleApps[%d] is %q: use the team ID, a dot and the bundle ID, such as "+
				"ABCDE12345.com.example.app", i, app)
		}
	}
}

// Domain returns the host name of an origin. An IPv6 address cannot have passkeys.
func Domain(at weburl.Origin) string {
	domain, _, _ := strings.Cut(at.Host, ":")
	return domain
}

// At fills in the empty fields of the configured relying party from the origin of a request.
func (p *Provider) At(at weburl.Origin) passkey.RelyingParty {
	rp := p.RelyingParty
	rp.ID, rp.Name, rp.Origin = cmp.Or(rp.ID, Domain(at)), cmp.Or(rp.Name, at.Host), cmp.Or(rp.Origin, at.String())
	if len(rp.AppleApps) > 0 { // Apple's apps have the origin of the relying party's ID
		rp.Origins = append(slices.Clone(rp.Origins), "https://"+rp.ID)
	}
	return rp
}

// firstUse reports whether this is the first response to a challenge.
func (p *Provider) firstUse(challenge string) bool {
	return p.used.First(challenge, p.now().Add(cookies.FlowLifetime+token.ClockSkew))
}

// Documents returns the documents for /.well-known by name: webauthn (WebAuthn Level 3 section 5.11.1) for other
// origins, which browsers request at the domain that is the relying party's ID, assetlinks.json for Android apps, and
// apple-app-site-association for Apple's apps.
func Documents(all []*passkey.RelyingParty) map[string][]byte {
	var origins, apple []string
	var android []any
	for _, rp := range all {
		for _, origin := range rp.Origins {
			if strings.HasPrefix(origin, "https://") && !slices.Contains(origins, origin) {
				origins = append(origins, origin)
			}
		}
		for _, app := range rp.AndroidApps {
			android = append(android, map[string]any{
				"relation": []string{
					"delegate_permission/common.handle_all_urls", "delegate_permission/common.get_login_creds",
				},
				"target": map[string]any{
					"namespace": "android_app", "package_name": app.Package,
					"sha256_cert_fingerprints": app.Certificates,
				},
			})
		}
		for _, app := range rp.AppleApps {
			if !slices.Contains(apple, app) {
				apple = append(apple, app)
			}
		}
	}
	documents := map[string][]byte{}
	add := func(name string, count int, content any) {
		if count > 0 {
			documents[name], _ = json.Marshal(content) // it has only strings
		}
	}
	add("webauthn", len(origins), map[string][]string{"origins": origins})
	add("assetlinks.json", len(android), android)
	add("apple-app-site-association", len(apple), map[string]any{"webcredentials": map[string]any{"apps": apple}})
	return documents
}
