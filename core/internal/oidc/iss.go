package oidc

import (
	"errors"
	"fmt"
)

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
		return fmt.Errorf("the answer is from the issuer %.200q, not from %q, which was asked (RFC 9207)", got[0], issuer)
	}
	return nil
}
