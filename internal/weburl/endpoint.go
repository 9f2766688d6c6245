package weburl

import (
	"errors"
	"strings"
)

// CheckEndpoint checks the URL of a provider. Codes and tokens are sent to it, so it must use https, unless the
// provider runs on this machine. If insecure is true, plain http to other hosts is allowed.
func CheckEndpoint(u string, insecure bool) error {
	normal, err := Normalise(u)
	if err != nil {
		return errors.New("write an absolute https URL")
	}
	if strings.HasPrefix(normal, "https://") || insecure && strings.HasPrefix(normal, "http://") {
		return nil
	}
	bare, _, _ := strings.Cut(normal, "?")
	bare, _, _ = strings.Cut(bare, "#")
	if origin, _, err := ParseOrigin(bare); err != nil || !origin.IsLoopback() {
		return errors.New("plain http is for providers on localhost only: write https, or set AllowInsecureHTTP of the " +
			"provider if the network between the two is yours (docs/recipes/cluster.md)")
	}
	return nil
}
