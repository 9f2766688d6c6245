package doctor

import (
	"cmp"
	"context"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// Options selects the extent of an examination. The zero value sends no authorization request and no token request to
// an OAuth 2.0 provider: it reads public documents, opens connections, and queries the store for records that do not
// exist.
type Options struct {
	// Probe, if true, starts a sign-in at each OAuth provider and sends a made-up code to its token endpoint. This
	// shows whether the provider knows the client, its secret and the callback URL. Providers may log both requests.
	Probe bool
	// Timeout limits each examination. The default is 10 seconds.
	Timeout time.Duration
	// HTTPClient reads public documents and pages of providers. The default is Config.HTTPClient or, if that is nil, a
	// client with timeouts. Sign-ins always use the configuration's client.
	HTTPClient *http.Client
}

// Run checks a configuration. It calls [core.New], which attaches the configuration's plugins to an Auth. Build a new
// configuration for your own Auth. When ctx is done, Run returns, and checks that did not run are unknown. Run is safe
// for concurrent use.
func Run(ctx context.Context, config core.Config, o Options) *Report {
	e := newExam(ctx, config, o)
	public := newWeb(&e.config, o.HTTPClient)
	e.configure()
	secrets{e}.look()
	origins{e}.look()
	cookies{e}.look()
	contradictions{e}.look()
	providers{e, public}.look()
	public.clocks.compare(e.report)
	stores{e}.look()
	mails{e}.look()
	return e.report
}

// Routes lists the routes of an application with this configuration: actions, methods and requirements. It returns the
// errors of [core.New]. As with [Run], build a new configuration for your own Auth.
func Routes(config core.Config) ([]core.Route, error) {
	config.Logger = discard()
	auth, err := core.New(config)
	if err != nil {
		return nil, err
	}
	return auth.Routes(), nil
}

// exam is one examination: its inputs, and the report that it writes.
type exam struct {
	ctx     context.Context
	config  core.Config
	options Options
	getenv  func(string) string
	log     *warnings
	auth    *core.Auth // nil if the configuration has errors
	site    *url.URL   // the public origin, nil if none is configured
	report  *Report
}

func newExam(ctx context.Context, config core.Config, o Options) *exam {
	e := &exam{
		ctx: ctx, config: config, options: o, getenv: config.Getenv, log: &warnings{},
		report: &Report{Version: Version},
	}
	if e.getenv == nil {
		e.getenv = os.Getenv
	}
	if o.Timeout <= 0 {
		e.options.Timeout = 10 * time.Second
	}
	e.hide()
	return e
}

// hide removes all secrets of the configuration from the report.
func (e *exam) hide() {
	e.report.hide(e.config.Secrets...)
	for _, name := range []string{"AUTH_SECRET", "AUTH_SECRET_1", "AUTH_SECRET_2", "AUTH_SECRET_3"} {
		e.report.hide(core.Secret(e.getenv(name)))
	}
	for _, name := range []string{"EMAIL_SERVER", "AUTH_URL", "NEXTAUTH_URL"} {
		e.report.hide(passwordIn(e.getenv(name))...)
	}
	for _, p := range e.config.Providers {
		if p == nil {
			continue
		}
		id, _, _ := p.Describe()
		e.report.hide(core.Secret(e.getenv(core.EnvName(id, "SECRET"))), core.Secret(e.getenv(core.EnvName(id, "KEY"))),
			core.Secret(e.getenv(core.EnvName(id, "PRIVATE_KEY"))))
		if declared, ok := p.(*core.OAuthProvider); ok && declared != nil {
			e.report.hide(declared.ClientSecret)
		}
	}
}

// passwordIn returns the password in an address, both encoded as in the address (errors repeat it in this form) and
// decoded.
func passwordIn(address string) []core.Secret {
	_, rest, _ := strings.Cut(address, "://")
	at := strings.LastIndexByte(rest, '@')
	if at < 0 {
		return nil
	}
	_, spelt, _ := strings.Cut(rest[:at], ":")
	meant, err := url.PathUnescape(spelt)
	if err != nil {
		meant = spelt
	}
	return []core.Secret{core.Secret(spelt), core.Secret(meant)}
}

// configure creates the Auth and reports the errors of [core.New].
func (e *exam) configure() {
	quiet := e.config
	quiet.Logger, quiet.Audit, quiet.Events = e.log.logger(), nil, core.Events{}
	auth, err := core.New(quiet)
	if err != nil {
		e.faults(err)
	}
	e.auth = auth
	if auth != nil {
		for _, p := range auth.OAuthProviders() {
			e.report.hide(p.ClientSecret)
		}
	}
	address := cmp.Or(e.config.URL, e.getenv("AUTH_URL"), e.getenv("NEXTAUTH_URL"))
	if u, err := url.Parse(address); err == nil && u.Host != "" && (u.Scheme == "https" || u.Scheme == "http") {
		e.site = &url.URL{Scheme: u.Scheme, Host: u.Host}
	}
	if auth != nil {
		e.report.ok("config", "core.New accepts the configuration: %s", e.summary())
	}
	e.announced()
}

// limited returns a context with the timeout of one examination.
func (e *exam) limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(e.ctx, e.options.Timeout)
}

// guarded runs an examination that calls functions of the application. A panic there is a finding.
func (e *exam) guarded(check string, examine func()) {
	defer func() {
		if p := recover(); p != nil {
			e.report.add(check, Wrong, "the application's own code panics", "run it in a debugger: the doctor called it "+
				"as a request does")
		}
	}()
	examine()
}

// secure reports whether the site uses https. It returns false if no origin is configured.
func (e *exam) secure() bool { return e.site != nil && e.site.Scheme == "https" }

// local reports whether host is this machine.
func local(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "127.0.0.1" || host == "::1"
}
