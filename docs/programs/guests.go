package main

import (
	"context"
	"fmt"
	"net/http"
	"sync"

	authhttp "github.com/latchkey-go/latchkey/adapters/stdlib"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/plugins/guest"
	"github.com/latchkey-go/latchkey/providers"
)

// carts represents your tables: the number of items in each user's cart.
type carts struct {
	mu sync.Mutex
	of map[string]int
}

func (c *carts) add(userID string) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[userID]++
	return c.of[userID]
}

// merge moves the cart of a guest. A second call changes nothing, because the guest's cart is empty by then.
func (c *carts) merge(_ context.Context, guest, existing *core.User) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.of[existing.ID] += c.of[guest.ID]
	delete(c.of, guest.ID)
	return nil
}

// drop deletes the cart of a guest who is deleted after MaxAge.
func (c *carts) drop(_ context.Context, guest *core.User) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.of, guest.ID)
	return nil
}

func newAuth(store core.Store, c *carts, more ...core.Provider) (*core.Auth, *guest.Guests, error) {
	guests := guest.New(guest.Options{Delete: c.drop})
	auth, err := core.New(core.Config{
		Store:     store,
		Providers: append([]core.Provider{providers.GitHub()}, more...),
		Plugins:   []core.Plugin{guests},
		Callbacks: core.Callbacks{Merge: c.merge},
	})
	return auth, guests, err
}

func site(auth *core.Auth, guests *guest.Guests, c *carts) http.Handler {
	mux, a := http.NewServeMux(), authhttp.New(auth)
	a.Mount(mux)
	// Guests may fill a cart.
	mux.Handle("POST /cart", a.Require()(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s, err := core.SessionFrom(r.Context())
		if err != nil {
			http.Error(w, "Please try again.", http.StatusServiceUnavailable)
			return
		}
		_, _ = fmt.Fprintln(w, c.add(s.UserID), "in the cart, guest:", guests.IsGuest(s))
	})))
	// Orders need an account.
	mux.Handle("GET /checkout", a.Require(guests.NotGuest())(http.HandlerFunc(checkout)))
	return mux
}

func checkout(w http.ResponseWriter, _ *http.Request) {
	_, _ = fmt.Fprintln(w, "Where should we send it?")
}
