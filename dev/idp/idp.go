// Package idp is an OpenID provider for development and tests. It supports discovery, the authorization code flow with
// PKCE, userinfo, refresh tokens and end-session, and has a page to pick or type a user. It asks for no password.
// Therefore it listens on loopback only and responds to loopback clients only.
//
//	server, err := idp.Start(idp.Options{RedirectURIs: []string{"http://localhost:3000/auth/callback/dev"}})
//	provider := providers.OIDC("dev", server.Issuer(), providers.Options{ClientID: server.ClientID(), ClientSecret: …})
//
// The protocol is implemented by github.com/luikyv/go-oidc. This package adds the page and the users.
package idp

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/luikyv/go-oidc/pkg/goidc"
	"github.com/luikyv/go-oidc/pkg/provider"
)

// Options configures the users and the application. The zero value has three users, and accepts others that are typed.
type Options struct {
	// Addr is the loopback address to listen on. The default is a free port of 127.0.0.1.
	Addr string
	// RedirectURIs are the application's callback URLs. They must be on loopback.
	RedirectURIs []string
	// PostLogoutRedirectURIs are the redirect URIs of the end-session endpoint. They must be on loopback.
	PostLogoutRedirectURIs []string
	// Users are the users on the page. The default is Ada, Grace and Linus.
	Users []User
	// OnlyListed, if true, refuses users that are typed instead of picked.
	OnlyListed bool
	// AutoSignIn is the email of a user who is signed in without the page, for unattended tests. A login_hint overrides
	// it.
	AutoSignIn string
	// Logger receives a message if an application requests a redirect URI that is not registered. The default is
	// slog.Default().
	Logger *slog.Logger
}

// User is a user who can sign in.
type User struct {
	// Subject is the sub claim. The default is derived from the email.
	Subject string
	// Name, Email and Picture are the claims of the same names. The claim email_verified is true unless Unverified is
	// set.
	Name, Email, Picture string
	Unverified           bool
	// Claims are additional claims. An auth_time replaces the provider's; nil omits it, as some providers do.
	Claims map[string]any
}

// Server is a running provider. Create it with [Start] and stop it with Close.
type Server struct {
	issuer, secret string
	http           *http.Server
}

const clientID = "latchkey-dev"

// Issuer returns the issuer identifier, a URL on loopback.
func (s *Server) Issuer() string { return s.issuer }

// ClientID returns the ID of the only client.
func (s *Server) ClientID() string { return clientID }

// ClientSecret returns the client's secret, which is new at each start.
func (s *Server) ClientSecret() string { return s.secret }

// Close stops the server immediately.
func (s *Server) Close() error { return s.http.Close() }

// Start creates a provider and serves it on loopback. Any other address is an error, because every client that reaches
// the provider can sign in as any user.
func Start(o Options) (*Server, error) {
	if o.Addr == "" {
		o.Addr = "127.0.0.1:0"
	}
	if !loopback(o.Addr) {
		return nil, fmt.Errorf("idp: %s is not on loopback: "+
			"the development provider asks for no password, listen on 127.0.0.1", o.Addr)
	}
	for _, u := range append(append([]string{}, o.RedirectURIs...), o.PostLogoutRedirectURIs...) {
		if parsed, err := url.Parse(u); err != nil || !loopback(parsed.Host) {
			return nil, fmt.Errorf("idp: the redirect URI %q is not on loopback", u)
		}
	}
	if o.Users == nil {
		o.Users = []User{
			{Name: "Ada Lovelace", Email: "ada@example.com"},
			{Name: "Grace Hopper", Email: "grace@example.com"},
			{Name: "Linus Example", Email: "linus@example.com"},
		}
	}
	listener, err := (&net.ListenConfig{}).Listen(context.Background(), "tcp", o.Addr)
	if err != nil {
		return nil, fmt.Errorf("idp: %w", err)
	}
	s := &Server{issuer: "http://" + listener.Addr().String()}
	handler, err := s.provider(o)
	if err != nil {
		_ = listener.Close()
		return nil, fmt.Errorf("idp: %w", err)
	}
	s.http = &http.Server{
		Handler: guard(o.sameRedirect(strict(handler))), ErrorLog: log.New(io.Discard, "", 0),
		ReadHeaderTimeout: 5 * time.Second, ReadTimeout: 15 * time.Second,
		WriteTimeout: 15 * time.Second, IdleTimeout: time.Minute,
	}
	go func() { _ = s.http.Serve(listener) }() // until Close
	return s, nil
}

// guard refuses requests with other host names. Otherwise a web page whose host name resolves to this machine could
// send requests (DNS rebinding).
func guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !loopback(r.Host) || !loopback(r.RemoteAddr) {
			http.Error(w, "idp: the development provider answers on this machine only", http.StatusForbidden)
			return
		}
		r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// sameRedirect explains an unregistered redirect URI, the most frequent mistake. The page and the log show the
// requested and the registered URIs. Without it the library would respond with JSON.
func (o Options) sameRedirect(next http.Handler) http.Handler {
	logger := o.Logger
	if logger == nil {
		logger = slog.Default()
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked := r.FormValue("redirect_uri") // in the body of a POST (OpenID Connect Core section 3.1.2.1)
		if r.URL.Path != "/authorize" || asked == "" || slices.Contains(o.RedirectURIs, asked) {
			next.ServeHTTP(w, r)
			return
		}
		logger.LogAttrs(r.Context(), slog.LevelWarn, "idp: redirect URI mismatch",
			slog.String("asked", fmt.Sprintf("%.300s", asked)), slog.Any("registered", o.RedirectURIs),
			slog.String("hint", "Options.RedirectURIs must have the application's URL (AUTH_URL), base path, "+
				"/callback/ and the provider's ID"))
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.Header().Set("Cache-Control", "no-store")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = fmt.Fprintf(w, `The application asks to be called back at

    %.300s

and this development provider was started for

    %s

They must be the same, to the letter. The first is the application's URL (AUTH_URL), its base path, `+
			`/callback/ and the provider's ID; the
second is RedirectURIs of idp.Options.
`, asked, strings.Join(o.RedirectURIs, "\n    "))
	})
}

func (s *Server) provider(o Options) (http.Handler, error) {
	keys, err := newKeys()
	if err != nil {
		return nil, err
	}
	var raw [24]byte
	_, _ = rand.Read(raw[:]) // crypto/rand.Read never fails
	s.secret = base64.RawURLEncoding.EncodeToString(raw[:])
	scopes := []goidc.Scope{goidc.ScopeOpenID, goidc.ScopeProfile, goidc.ScopeEmail, goidc.NewScope("offline_access")}
	client := &goidc.Client{ID: clientID, Secret: s.secret, ClientMeta: goidc.ClientMeta{
		Name: "Application under development", ScopeIDs: "openid profile email offline_access", RedirectURIs: o.RedirectURIs,
		PostLogoutRedirectURIs: o.PostLogoutRedirectURIs, TokenAuthnMethod: goidc.AuthnMethodSecretBasic,
		GrantTypes:    []goidc.GrantType{goidc.GrantAuthorizationCode, goidc.GrantRefreshToken},
		ResponseTypes: []goidc.ResponseType{goidc.ResponseTypeCode},
	}}
	pages := &pages{issuer: s.issuer, options: o, started: time.Now(), authenticated: map[string]time.Time{}}
	op, err := provider.New(s.issuer, nil, func(context.Context) (goidc.JSONWebKeySet, error) { return keys, nil },
		provider.WithScopes(scopes...),
		provider.WithIDTokenSignatureAlgs(goidc.RS256, goidc.ES256),
		provider.WithSecretBasicAuthn(), provider.WithSecretPostAuthn(),
		provider.WithAuthCodeGrant(nil, goidc.ResponseTypeCode),
		provider.WithRefreshTokenGrant(nil),
		provider.WithPKCERequired(goidc.CodeChallengeMethodSHA256),
		provider.WithIssuerResponseParameter(),
		provider.WithClaims("name", "email", "email_verified", "picture", "auth_time"),
		provider.WithIDTokenClaims(idTokenClaims), provider.WithUserInfoClaims(userinfoClaims),
		provider.WithStaticClients(client),
		// The client never authenticates with a JWT.
		provider.WithJTIConsumer(func(context.Context, string) error { return nil }),
		provider.WithPolicies(goidc.NewPolicy("pick",
			func(*http.Request, *goidc.AuthnSession, *goidc.Client) bool { return true }, pages.authenticate)),
		provider.WithLogout(nil, loggedOut),
		provider.WithLogoutPolicies(goidc.NewLogoutPolicy("now",
			func(*http.Request, *goidc.LogoutSession) bool { return true },
			func(http.ResponseWriter, *http.Request, *goidc.LogoutSession) (goidc.Status, error) {
				return goidc.StatusSuccess, nil
			})),
	)
	if err != nil {
		return nil, err
	}
	return op.Handler(), nil
}

func newKeys() (goidc.JSONWebKeySet, error) {
	rs, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return goidc.JSONWebKeySet{}, err
	}
	es, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return goidc.JSONWebKeySet{Keys: []goidc.JSONWebKey{
		{KeyID: "rs", Key: rs, Algorithm: "RS256", Use: "sig"}, {KeyID: "es", Key: es, Algorithm: "ES256", Use: "sig"},
	}}, err
}

// Keys of the values in a stored grant.
const (
	claimsKey   = "claims"
	authTimeKey = "auth_time"
)

// scopeOf maps claims to the scopes they need (OpenID Connect Core section 5.4). Other claims are always returned.
var scopeOf = map[string]string{"name": "profile", "picture": "profile", "email": "email", "email_verified": "email"}

// userinfoClaims returns the user's claims that the scopes of the grant include.
func userinfoClaims(_ context.Context, grant *goidc.Grant) map[string]any {
	all, _ := grant.Store[claimsKey].(map[string]any)
	scopes := strings.Fields(grant.Scopes)
	claims := map[string]any{}
	for name, value := range all {
		if scope := scopeOf[name]; scope == "" || slices.Contains(scopes, scope) {
			claims[name] = value
		}
	}
	return claims
}

// idTokenClaims returns the same claims and auth_time, which is required after a request with max_age (OpenID Connect
// Core section 3.1.3.6).
func idTokenClaims(ctx context.Context, grant *goidc.Grant) map[string]any {
	claims := userinfoClaims(ctx, grant)
	at, set := claims[authTimeKey]
	if !set {
		at = grant.Store[authTimeKey]
	}
	if delete(claims, authTimeKey); at != nil {
		claims[authTimeKey] = at
	}
	return claims
}

func loggedOut(w http.ResponseWriter, _ *http.Request, _ *goidc.LogoutSession) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, err := io.WriteString(w, "Signed out of the development provider.\n")
	return err
}

// errCancelled is returned if the user cancels. The library sends the client access_denied.
var errCancelled = goidc.NewError(goidc.ErrorCodeAccessDenied, "the user cancelled")

// authenticate shows the page for an authorization request, and handles the form that the page posts to
// /authorize/<session>.
func (p *pages) authenticate(
	w http.ResponseWriter, r *http.Request, as *goidc.AuthnSession, _ *goidc.Client,
) (goidc.Status, error) {
	if r.URL.Path == "/authorize" || r.Method == http.MethodGet {
		for _, email := range []string{as.LoginHint, p.options.AutoSignIn} {
			u, ok := p.listed(email)
			switch silent := as.Prompt == goidc.PromptTypeNone; {
			case ok && silent:
				return p.acceptSilently(as, u)
			case ok && p.options.AutoSignIn != "":
				return p.accept(as, u), nil
			}
		}
		if as.Prompt == goidc.PromptTypeNone {
			return goidc.StatusFailure, goidc.NewError(goidc.ErrorCodeLoginRequired, "no user is signed in here")
		}
		return goidc.StatusPending, p.render(w, as.ID, "")
	}
	if r.PostFormValue("cancel") != "" {
		return goidc.StatusFailure, errCancelled
	}
	if u, ok := p.listed(r.PostFormValue("user")); ok {
		return p.accept(as, u), nil
	}
	email := strings.ToLower(strings.TrimSpace(r.PostFormValue("email")))
	if p.options.OnlyListed || strings.Count(email, "@") != 1 || strings.ContainsAny(email, " \t\r\n<>\"") {
		return goidc.StatusPending, p.render(w, as.ID, "Type an email address, such as you@example.com.")
	}
	return p.accept(as, User{Name: strings.TrimSpace(r.PostFormValue("name")), Email: email}), nil
}

func (p *pages) listed(email string) (User, bool) {
	for _, u := range p.options.Users {
		if email != "" && u.Email == email {
			return u, true
		}
	}
	return User{}, false
}

// acceptSilently signs in a user without the page (prompt=none). The time of the authentication is when the user was
// last picked, or the start of the provider.
func (p *pages) acceptSilently(as *goidc.AuthnSession, u User) (goidc.Status, error) {
	p.mu.Lock()
	at, picked := p.authenticated[u.Email]
	p.mu.Unlock()
	if !picked {
		at = p.started
	}
	if age := as.MaxAuthnAgeSecs; age != nil && time.Since(at) > time.Duration(*age)*time.Second {
		return goidc.StatusFailure, goidc.NewError(goidc.ErrorCodeLoginRequired, "the user signed in before max_age")
	}
	return p.acceptAt(as, u, at), nil
}

// accept signs in a user who authenticates now.
func (p *pages) accept(as *goidc.AuthnSession, u User) goidc.Status {
	now := time.Now()
	p.mu.Lock()
	p.authenticated[u.Email] = now
	p.mu.Unlock()
	return p.acceptAt(as, u, now)
}

func (p *pages) acceptAt(as *goidc.AuthnSession, u User, at time.Time) goidc.Status {
	claims := map[string]any{}
	for name, value := range u.Claims {
		claims[name] = value
	}
	for name, value := range map[string]string{"name": u.Name, "email": u.Email, "picture": u.Picture} {
		if value != "" {
			claims[name] = value
		}
	}
	if u.Email != "" {
		claims["email_verified"] = !u.Unverified
	}
	if u.Subject == "" { // the same user has the same subject at every start
		sum := sha256.Sum256([]byte("latchkey development user " + u.Email))
		u.Subject = hex.EncodeToString(sum[:10])
	}
	as.Subject, as.GrantedScopes = u.Subject, as.Scopes
	as.Store = map[string]any{claimsKey: claims, authTimeKey: at.Unix()}
	return goidc.StatusSuccess
}

// loopback reports whether host:port, or a host, is on this machine.
func loopback(hostport string) bool {
	host, _, err := net.SplitHostPort(hostport)
	if err != nil {
		host = strings.Trim(hostport, "[]")
	}
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.Unmap().IsLoopback()
}
