package providers

// FusionAuthProfile is the profile of [FusionAuth]: the claims of its ID token, and those that the installation adds.
// Use it with [Typed] and [ProfileAs]. An application with additional claims embeds it in a struct:
//
//	type Employee struct {
//		providers.FusionAuthProfile
//		Department string `json:"department"`
//	}
type FusionAuthProfile struct {
	// Subject is the user's ID, SessionID the ID of the session at the provider, ID the ID of the token.
	Subject   string `json:"sub"`
	SessionID string `json:"sid"`
	ID        string `json:"jti"`
	// Issuer and Audience are the installation and the client.
	Issuer   string `json:"iss"`
	Audience string `json:"aud"`
	// IssuedAt and Expires are in Unix seconds.
	IssuedAt int64 `json:"iat"`
	Expires  int64 `json:"exp"`
	// AccessTokenHash and CodeHash bind the token to the access token and the code (OpenID Connect Core section 3.3.2.11).
	AccessTokenHash string `json:"at_hash"`
	CodeHash        string `json:"c_hash"`
	// AuthenticationType is the authentication method, such as "PASSWORD". Scope is the granted scope.
	AuthenticationType string `json:"authenticationType"`
	Scope              string `json:"scope"`
	// Email is the address. EmailVerified reports whether the installation vouches for it.
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
	// Names and picture may be empty.
	Name              string `json:"name"`
	GivenName         string `json:"given_name"`
	MiddleName        string `json:"middle_name"`
	FamilyName        string `json:"family_name"`
	PreferredUsername string `json:"preferred_username"`
	Picture           string `json:"picture"`
}
