package core

// CSRFPolicy says what proves that a POST comes from a page of this site. A page of another site can make a visitor's
// browser send any POST here, with the visitor's cookies: without proof it would sign visitors out, or sign them in to
// an account of its own and collect what they do there.
//
// The zero value, the default, demands the token that our pages and GET csrf carry, repeated in the body beside its
// cookie (double submit): another site can read neither. [CSRFTokenOrSameOrigin] also takes the browser's own word, and
// [InsecureSkipCSRFCheck] demands no proof. No policy accepts what a browser calls cross-site (Fetch Metadata,
// Sec-Fetch-Site). Callbacks of providers that answer by POST (form_post) are guarded by state and nonce instead.
type CSRFPolicy struct{ sameOrigin, skip bool }

// CSRFTokenOrSameOrigin is the policy for front ends that send no token because their framework compares origins, such
// as the client of @auth/sveltekit: a POST needs the token as by default, or Sec-Fetch-Site "same-origin", or, from
// browsers that do not send that header, an Origin header that is exactly the public origin of the request. Behind a
// proxy that origin is what Config.URL, or the forwarded headers that are trusted, say. A request with neither header
// needs the token.
func CSRFTokenOrSameOrigin() CSRFPolicy { return CSRFPolicy{sameOrigin: true} }

// InsecureSkipCSRFCheck demands no token, for routers that check every POST themselves: there is then no CSRF cookie,
// and GET csrf answers 404. What a browser says to come from another site or subdomain, by Sec-Fetch-Site or by an
// Origin header that is not this origin's, is refused all the same; a request without these headers passes. It is a
// function and no flag so that no configuration file can set it by accident.
func InsecureSkipCSRFCheck() CSRFPolicy { return CSRFPolicy{skip: true} }
