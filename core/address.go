package core

import (
	"errors"
	"strings"

	"github.com/latchkey-go/latchkey/core/internal/weburl"
)

// checkPage checks a page of the application: a rooted path or an http(s) URL.
func checkPage(page string) error {
	if _, err := weburl.AddQuery(page); err != nil {
		return errors.New("write a path such as /login, or an http(s) URL")
	}
	return nil
}

// checkEndpoint checks an address of a provider. Codes and tokens go there, so it is https but for a provider on this machine.
func checkEndpoint(u string) error {
	normal, err := weburl.Normalise(u)
	if err != nil {
		return errors.New("write an absolute https URL")
	}
	if strings.HasPrefix(normal, "https://") {
		return nil
	}
	bare, _, _ := strings.Cut(normal, "?")
	bare, _, _ = strings.Cut(bare, "#")
	if origin, _, err := weburl.ParseOrigin(bare); err != nil || !origin.IsLoopback() {
		return errors.New("plain http is for providers on localhost only: write https")
	}
	return nil
}
