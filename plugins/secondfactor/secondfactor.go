package secondfactor

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/limit"
)

// Options configures [New]. The zero value asks the users who have enrolled a second factor, and no others.
type Options struct {
	// Issuer is the name of the site in authenticator apps. The default is the host of the request.
	Issuer string
}

// Factors is the plugin. [New] creates one, and it belongs to one Auth. It is safe for concurrent use.
type Factors struct {
	options  Options
	handlers *handlers // nil before Attach
}

// New returns a Factors for [core.Config.Plugins].
func New(o Options) *Factors { return &Factors{options: o} }

const (
	// name is the Name of the actions.
	name = "second-factor"
	// fresh is the maximum time since the last authentication for a change of the factors.
	fresh = 15 * time.Minute
)

// Attach implements [core.Plugin].
func (f *Factors) Attach(h *core.PluginHost) error {
	if f.handlers != nil {
		return errors.New("already attached to an Auth: call secondfactor.New for each Auth")
	}
	records := h.Records()
	s := &handlers{host: h, options: &f.options, states: &states{h, records}}
	s.recovery = &recoveryCodes{h, records, s.states}
	f.handlers = s
	h.TrackAuthentication()
	h.AddSignInGate(s.gate)
	for _, a := range []core.Action{
		{Method: http.MethodGet, Handle: s.show},
		{Method: http.MethodPost, Attempt: limit.AttemptCode, Handle: s.check},
		{Method: http.MethodGet, Verb: "enroll", Handle: s.showEnroll},
		{Method: http.MethodPost, Verb: "enroll", Attempt: limit.AttemptCode, Handle: s.enroll},
		{Method: http.MethodPost, Verb: "saved", Handle: s.saved},
		{Method: http.MethodGet, Verb: "settings", Handle: s.settings},
		{Method: http.MethodPost, Verb: "codes", Handle: s.replaceCodes},
		{Method: http.MethodPost, Verb: "remove", Handle: s.remove},
		{Method: http.MethodGet, Verb: "verify", Handle: s.showVerify},
		{Method: http.MethodPost, Verb: "verify", Attempt: limit.AttemptCode, Handle: s.verify},
	} {
		a.Name = name
		h.AddAction(a)
	}
	return nil
}

// handlers are the gate and the actions of the plugin.
type handlers struct {
	host     *core.PluginHost
	options  *Options
	states   *states
	recovery *recoveryCodes
}

// gate holds a sign-in of a user who has a second factor, until it was checked.
func (s *handlers) gate(ctx context.Context, p *core.PendingSignIn) (next string, err error) {
	st, err := s.states.load(ctx, p.User.ID)
	switch {
	case err != nil:
		return "", err
	case st.enrolled():
		return name, nil
	}
	return "", nil
}
