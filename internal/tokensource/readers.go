package tokensource

// Readers are the sources of session tokens of a site, for each kind of origin.
type Readers[T any] struct{ https, http, unknown Sources[T] }

// ReadersOf returns the readers of a site with these session cookies at http and https origins. For an https origin,
// the plain cookie is ignored, because sibling subdomains can set it over plain http. For an http origin both cookies
// count: a proxy may terminate TLS without telling the server. If the request has only a header, the origin is unknown.
// headerFirst is [Sources].HeaderFirst.
func ReadersOf[T any](plain, secure Cookie[T], headerFirst bool) Readers[T] {
	of := func(cookies ...Cookie[T]) Sources[T] {
		if plain.Name == secure.Name {
			cookies = cookies[:1]
		}
		return Sources[T]{Cookies: cookies, HeaderFirst: headerFirst}
	}
	return Readers[T]{https: of(secure), http: of(plain, secure), unknown: of(secure, plain)}
}

// For returns the reader for the scheme of an origin. The scheme of an unknown origin is empty.
func (r *Readers[T]) For(scheme string) *Sources[T] {
	switch scheme {
	case "https":
		return &r.https
	case "":
		return &r.unknown
	}
	return &r.http
}
