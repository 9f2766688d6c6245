package oidc

import "maps"

// WithUserinfo adds to the claims of an ID token the claims that only the userinfo response has. The ID token takes
// precedence, because it is signed. Claims about the token itself are taken from the ID token only. The claims that
// vouch for an email address are taken from the source of that address only.
func WithUserinfo(claims, userinfo map[string]any) map[string]any {
	all := maps.Clone(claims)
	for name, value := range userinfo {
		if all[name] == nil && !aboutToken(name) {
			all[name] = value
		}
	}
	if claims["email"] == nil && userinfo["email"] != nil {
		for _, name := range []string{"email_verified", "xms_edov"} {
			if delete(all, name); userinfo[name] != nil {
				all[name] = userinfo[name]
			}
		}
	}
	return all
}

// aboutToken reports whether a claim describes an ID token and its authentication, not the user.
func aboutToken(name string) bool {
	switch name {
	case "iss", "sub", "aud", "exp", "nbf", "iat", "jti", "azp", "nonce", "auth_time", "acr", "amr", "sid", "at_hash",
		"c_hash", "events":
		return true
	}
	return false
}
