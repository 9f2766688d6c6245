// Package passkey defines the relying party of a passkey provider, and the interface of the verifier of its ceremonies
// (WebAuthn). Package core has aliases of the types, and providers/webauthn a [Verifier].
package passkey

import "github.com/latchkey-go/latchkey/core/store"

// RelyingParty is the site that passkeys are created for (WebAuthn section 4). Empty fields are derived from the origin
// of the request. Set them, or Config.URL, if the site has several hosts.
type RelyingParty struct {
	// ID is the domain that passkeys are bound to. It may be a parent domain of the origin. The default is the host name.
	ID string
	// Name is shown by authenticators. The default is the host.
	Name string
	// Origin is the origin where the ceremonies take place. The default is the origin of the request.
	Origin string
	// Origins lists additional accepted origins: https origins, such as a subdomain of ID or a related origin (WebAuthn
	// Level 3 section 5.11), and Android apps as "android:apk-key-hash:" with the SHA-256 of the signing certificate in
	// base64url. New reports any other text as a configuration error.
	Origins []string
	// AndroidApps are the site's Android apps. Their origins are accepted, and the document /.well-known/assetlinks.json
	// lets them use the passkeys of ID. It is served at the origin of this site, which must be https://ID.
	AndroidApps []AndroidApp
	// AppleApps are the site's apps for iOS and macOS, as application identifiers: the team ID, a dot and the bundle ID.
	// The document /.well-known/apple-app-site-association lets them use the passkeys of ID, with the origin https://ID,
	// which is accepted. It is served at the origin of this site, which must be https://ID.
	AppleApps []string
}

// AndroidApp is an Android app that uses the passkeys of a site.
type AndroidApp struct {
	// Package is the application ID, such as "com.example.app".
	Package string
	// Certificates are the SHA-256 fingerprints of the signing certificates, as keytool and the Play Console show them: 32
	// bytes in upper-case hex, separated by colons. If Google Play signs the app, it is the fingerprint of that key.
	Certificates []string
}

// Verifier verifies responses of authenticators. It must reject a wrong ceremony, challenge, origin (including a page
// in a frame of another site), relying party, algorithm or key, impossible flags, and a response without user presence.
// It must be safe for concurrent use.
type Verifier interface {
	// VerifyRegistration verifies a registration response in JSON (WebAuthn section 7.1) and returns the new passkey. Core
	// sets its user and account.
	VerifyRegistration(data []byte, want Ceremony) (*Verified, error)
	// VerifyAuthentication verifies an authentication response in JSON against a stored passkey (WebAuthn section 7.2). It
	// returns the signature counter, which core compares with the stored one.
	VerifyAuthentication(data []byte, stored *store.Authenticator, want Ceremony) (counter uint32, err error)
}

// Verified is a new passkey and the facts about it that stores do not keep.
type Verified struct {
	store.Authenticator
	// AAGUID identifies the model of the authenticator or the password manager, as a UUID in lower case (WebAuthn section
	// 6.5.1). It is empty if it is unknown.
	AAGUID string
}

// Ceremony contains the expected values for the verification of a response.
type Ceremony struct {
	// Challenge is the expected challenge in base64url.
	Challenge string
	// RPID and Origin are those of the relying party. Origins are RelyingParty.Origins, which are also accepted.
	RPID, Origin string
	Origins      []string
	// UserVerification requires the flag with this name.
	UserVerification bool
	// Conditional is true for a registration with conditional mediation, in which the authenticator does not ask the user:
	// the response may lack the flags of user presence and user verification (WebAuthn Level 3 section 7.1).
	Conditional bool
	// Algorithms are those offered at the registration.
	Algorithms []int
}
