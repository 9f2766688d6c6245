package authfiber_test

import (
	"net/http"
	"testing"

	"github.com/gofiber/fiber/v2"

	authfiber "github.com/latchkey-go/latchkey/adapters/fiber"
	"github.com/latchkey-go/latchkey/adapters/internal/fibertest"
	"github.com/latchkey-go/latchkey/core"
)

func newAuth(t *testing.T, change func(*core.Config)) *core.Auth {
	t.Helper()
	return fibertest.NewAuth(t, change)
}

// tester sends requests to f without a timeout.
func tester(f *fiber.App) fibertest.Tester {
	return func(r *http.Request) (*http.Response, error) { return f.Test(r, -1) }
}

func ask(t *testing.T, f *fiber.App, r *http.Request) fibertest.Response {
	t.Helper()
	return tester(f).Send(t, r)
}

func TestSessionThatFiberWouldNotReadIsNotSet(t *testing.T) {
	fibertest.LargeSessions(t, func(auth *core.Auth, readBufferSize int) fibertest.Tester {
		f := fiber.New(fiber.Config{ReadBufferSize: readBufferSize})
		authfiber.New(auth).Mount(f)
		return tester(f)
	})
}

func TestForgedForwardedHeaders(t *testing.T) {
	fibertest.ForgedForwardedHeaders(t, func(auth *core.Auth, proxy string) fibertest.Tester {
		f := fiber.New(trusting(proxy))
		authfiber.New(auth).Mount(f)
		return tester(f)
	})
}

// trusting returns the configuration of an application that trusts one proxy, or all peers.
func trusting(proxy string) (config fiber.Config) {
	if proxy != "" {
		config = fiber.Config{EnableTrustedProxyCheck: true, TrustedProxies: []string{proxy}}
	}
	return config
}

func TestMountOnAGroup(t *testing.T) {
	fibertest.MountOnAGroup(t, func(auth *core.Auth, group string) fibertest.Tester {
		f := fiber.New()
		authfiber.New(auth).Mount(f.Group(group))
		return tester(f)
	})
}
