package oidc

// Trusted reports whether a member of a provider's document decides who signs in, or is a secret. Such a member is
// read exactly or not at all; malformed text elsewhere is repaired ([exactjson.Tolerant]).
func Trusted(name string) bool {
	switch name {
	case "iss", "sub", "aud", "azp", "exp", "iat", "nbf", "jti", "nonce", "sid", "at_hash", "auth_time", "acr", "amr",
		"events", "id", "tid", "oid", "hd", "xms_edov", "email", "email_verified",
		"access_token", "refresh_token", "id_token", "token_type",
		"issuer", "authorization_endpoint", "token_endpoint", "userinfo_endpoint", "jwks_uri", "end_session_endpoint":
		return true
	}
	return false
}
