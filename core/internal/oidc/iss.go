package oidc

import "errors"

// CheckIss compares the iss parameter of an authorization response with the issuer that was asked (RFC 9207 section
// 2.4). got has the values that came. Without a known issuer there is nothing to compare; where the provider advertises
// the parameter it must be there.
func CheckIss(got []string, issuer string, advertised bool) error {
	switch {
	case len(got) > 1:
		return errors.New("the answer has iss twice")
	case len(got) == 0 && advertised:
		return errors.New("the answer has no iss although the provider advertises it (RFC 9207)")
	case len(got) == 1 && issuer != "" && got[0] != issuer:
		return errors.New("the answer is from another issuer than the one asked (RFC 9207)")
	}
	return nil
}
