package providers

// FusionAuthProfile is what [FusionAuth] tells of a person: the claims of its ID token, and what the installation adds.
// It is for [Typed] and [ProfileAs]. An application with claims of its own embeds it in a struct that has them:
//
//	type Employee struct {
//		providers.FusionAuthProfile
//		Department string `json:"department"`
//	}
type FusionAuthProfile struct {
	// Subject is the user's ID, SessionID that of the session at the provider, ID that of the token.
	Subject   string `json:"sub"`
	SessionID string `json:"sid"`
	ID        string `json:"jti"`
	// Issuer and Audience are the installation and the client.
	Issuer   string `json:"iss"`
	Audience string `json:"aud"`
	// IssuedAt and Expires are in Unix seconds.
	IssuedAt int64 `json:"iat"`
	Expires  int64 `json:"exp"`
	// AccessTokenHash and CodeHash tie the token to the access token and the code (OpenID Connect Core section 3.3.2.11).
	AccessTokenHash string `json:"at_hash"`
	CodeHash        string `json:"c_hash"`
	// AuthenticationType is how the person signed in, such as "PASSWORD"; Scope is what was granted.
	AuthenticationType string `json:"authenticationType"`
	Scope              string `json:"scope"`
	// Email is the address, and EmailVerified whether the installation vouches for it.
	Email         string `json:"email"`
	EmailVerified bool   `json:"email_verified"`
	// Names and picture are empty where the person has given none.
	Name              string `json:"name"`
	GivenName         string `json:"given_name"`
	MiddleName        string `json:"middle_name"`
	FamilyName        string `json:"family_name"`
	PreferredUsername string `json:"preferred_username"`
	Picture           string `json:"picture"`
}
