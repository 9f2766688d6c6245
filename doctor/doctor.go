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

// Options says how much is examined. Its zero value sends nothing to a provider that has an account of the request: it
// reads public documents, opens connections, and asks the store for what is not there.
type Options struct {
	// Probe begins a sign-in at each OAuth provider and hands its token endpoint a made-up code: that tells whether the
	// provider knows the client, its secret and the callback URL. Providers may log both.
	Probe bool
	// Timeout bounds each examination; zero: 10 seconds.
	Timeout time.Duration
	// HTTPClient reads public documents and pages of providers; nil: Config.HTTPClient, else one with deadlines. Sign-ins
	// go by the configuration's own.
	HTTPClient *http.Client
}

// Run examines a configuration. It calls [core.New] with it, which attaches its parts: make the configuration anew for
// an Auth beside it. It ends when ctx does; what was not examined by then is unknown. It is safe for concurrent use.
func Run(ctx context.Context, config core.Config, o Options) *Report {
	e := newExam(ctx, config, o)
	away := newWeb(&e.config, o.HTTPClient)
	e.configure()
	secrets{e}.look()
	origins{e}.look()
	cookies{e}.look()
	contradictions{e}.look()
	providers{e, away}.look()
	away.clocks.compare(e.report)
	stores{e}.look()
	mails{e}.look()
	return e.report
}

// Routes lists what an application with this configuration answers: actions, methods and what they demand. Its error
// is that of [core.New], whose conditions are those of [Run].
func Routes(config core.Config) ([]core.Route, error) {
	config.Logger = discard()
	auth, err := core.New(config)
	if err != nil {
		return nil, err
	}
	return auth.Routes(), nil
}

// exam is one examination: what each part of it goes by, and where it writes what it has found.
type exam struct {
	ctx     context.Context
	config  core.Config
	options Options
	getenv  func(string) string
	log     *warnings
	auth    *core.Auth // nil: the configuration is faulty
	site    *url.URL   // the public origin; nil: none is configured
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

// hide keeps all secrets that the configuration is known to have out of the report.
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

// passwordIn is the password of an address, as it is spelt there, which errors repeat, and as it is meant.
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

// configure makes the Auth and reports what [core.New] finds.
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
		e.report.ok("config", "core.New takes the configuration: %s", e.summary())
	}
	e.announced()
}

// limited is a context for one examination.
func (e *exam) limited() (context.Context, context.CancelFunc) {
	return context.WithTimeout(e.ctx, e.options.Timeout)
}

// guarded runs an examination that calls functions of the application: a panic there is a finding.
func (e *exam) guarded(check string, examine func()) {
	defer func() {
		if p := recover(); p != nil {
			e.report.add(check, Wrong, "the application's own code panics", "run it in a debugger: the examination called it "+
				"as a request does")
		}
	}()
	examine()
}

// secure reports whether visitors come by https; false where no origin is configured.
func (e *exam) secure() bool { return e.site != nil && e.site.Scheme == "https" }

// local reports whether a host is this machine's.
func local(host string) bool {
	return host == "localhost" || strings.HasSuffix(host, ".localhost") || host == "127.0.0.1" || host == "::1"
}
