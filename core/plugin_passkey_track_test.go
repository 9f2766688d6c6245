package core_test

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/core"
)

// tracker records what PluginHost.TrackPasskeys reports.
type tracker struct {
	handles map[string][]byte
	made    []core.NewPasskey
	err     error
	panics  bool
}

func (t *tracker) Attach(h *core.PluginHost) error {
	h.TrackPasskeys(core.PasskeyTracker{
		UserHandle: func(_ context.Context, userID string) ([]byte, error) { return t.handles[userID], t.err },
		Added: func(_ context.Context, made core.NewPasskey) {
			t.made, t.handles[made.UserID] = append(t.made, made), made.UserHandle
			if t.panics {
				panic("Added")
			}
		},
	})
	h.TrackPasskeys(core.PasskeyTracker{Added: func(context.Context, core.NewPasskey) { panic("the first counts") }})
	return nil
}

// withAAGUID is a verifier of passkeys that state an AAGUID.
type withAAGUID struct{ anyPasskey }

func (v withAAGUID) VerifyRegistration(data []byte, want core.WebAuthnCeremony) (*core.VerifiedPasskey, error) {
	made, err := v.anyPasskey.VerifyRegistration(data, want)
	if err == nil {
		made.AAGUID = "d548826e-79b4-db40-a3d8-11116f7e8349"
	}
	return made, err
}

// TestTrackPasskeys: a plugin receives the facts about new passkeys and decides the user handle.
func TestTrackPasskeys(t *testing.T) {
	t.Parallel()
	for _, strategy := range []core.Strategy{core.StrategyJWT, core.StrategyDatabase} {
		t.Run(string(strategy), func(t *testing.T) {
			t.Parallel()
			tracks := &tracker{handles: map[string][]byte{}}
			w := newTown(t, power{true, true, true, true}, strategy, func(c *core.Config) {
				c.Plugins = append(c.Plugins, tracks)
				for _, p := range c.Providers {
					if passkeys, ok := p.(*core.WebAuthnProvider); ok {
						passkeys.Verifier = withAAGUID{}
					}
				}
			})
			handle := func(b *browser) string {
				var got struct {
					Options struct {
						User struct{ ID string } `json:"user"`
					} `json:"options"`
				}
				r := b.get("/auth/webauthn-options/passkey?action=register")
				if err := json.Unmarshal(r.Body, &got); err != nil {
					t.Fatalf("%d %s", r.Status, r.Body)
				}
				return got.Options.User.ID
			}
			ada, eve := w.browser(), w.browser()
			id := w.signedIn(ada, w.passkey(ada, "action=register&email=ada@x.example", "register", "first"))
			w.signedIn(eve, w.through(eve, "vouching", "eve", "eve@x.example", vouched))
			if len(tracks.made) != 1 || tracks.made[0].UserID != id || len(tracks.made[0].UserHandle) != 48 ||
				tracks.made[0].AAGUID != "d548826e-79b4-db40-a3d8-11116f7e8349" || tracks.made[0].CredentialID != "Zmlyc3Q=" {
				t.Fatalf("the tracker got %+v", tracks.made)
			}
			if again := handle(ada); again != handle(ada) || again == handle(eve) {
				t.Error("the handle is not that of the user")
			}
			tracks.panics = true // the passkey is stored, so the sign-in succeeds
			w.passkey(ada, "action=register", "register", "second")
			if len(tracks.made) != 2 || string(tracks.made[1].UserHandle) != string(tracks.made[0].UserHandle) {
				t.Errorf("the tracker got %+v", tracks.made)
			}
			later := w.browser()
			w.signedIn(later, w.passkey(later, "action=authenticate", "authenticate", "second"))
			tracks.err = errors.New("no records")
			if r := ada.get("/auth/webauthn-options/passkey?action=register"); strings.Contains(string(r.Body), "challenge") {
				t.Errorf("the registration continues without a handle: %s", r.Body)
			}
		})
	}
}
