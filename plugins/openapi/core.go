package openapi

import (
	"reflect"

	"github.com/latchkey-go/latchkey/internal/passkey"
)

// The inputs of the endpoints of core.
type (
	sessionUpdate struct {
		Data any `json:"data,omitempty" jsonschema:"passed to the callbacks of the site"`
	}
	signInInput struct {
		Email  string            `json:"email,omitempty" jsonschema:"the address of a sign-in by email"`
		Fields map[string]string `json:"*"`
	}
	callbackInput struct {
		Fields map[string]string `json:"*"`
	}
	pageInput struct {
		CallbackURL string `json:"callbackUrl,omitempty" jsonschema:"where the user continues"`
		Error       string `json:"error,omitempty" jsonschema:"the name of the error to show"`
	}
	callbackQuery struct {
		Code  string `json:"code,omitempty" jsonschema:"the authorization code of an OAuth provider"`
		State string `json:"state,omitempty" jsonschema:"the state of the authorization request"`
		Token string `json:"token,omitempty" jsonschema:"the token of a link in an email"`
		Email string `json:"email,omitempty" jsonschema:"the address that the link was sent to"`
		Error string `json:"error,omitempty" jsonschema:"the error of an OAuth provider (RFC 6749 section 4.1.2.1)"`
	}
	logoutToken struct {
		Token string `json:"logout_token" jsonschema:"a logout token (OpenID Connect Back-Channel Logout 1.0)"`
	}
	logoutQuery struct {
		State string `json:"state,omitempty" jsonschema:"the state of the logout request"`
	}
	passkeyQuery struct {
		Action string `json:"action,omitempty" jsonschema:"authenticate or register"`
		Email  string `json:"email,omitempty" jsonschema:"the address of a user who is not signed in"`
	}
)

func text() members                 { return members{"type": "string"} }
func described(text string) members { return members{"type": "string", "description": text} }
func optional() members             { return members{"type": []string{"string", "null"}} }

// object returns the schema of an object. Its members may be missing, unless they are required.
func object(properties members, further bool, required ...string) members {
	schema := members{"type": "object", "properties": properties, "additionalProperties": further}
	if len(required) > 0 {
		schema["required"] = required
	}
	return schema
}

// passkeyTypes are the types of the options of a passkey, for a sign-in and for a new passkey.
var (
	passkeyTypes   = []reflect.Type{of[passkey.AuthenticationResponse](), of[passkey.RegistrationResponse]()}
	passkeyOptions = []members{ref(schemaName(passkeyTypes[0])), ref(schemaName(passkeyTypes[1]))}
)

// coreSchemas are the schemas of the responses of core, except those of passkeyTypes.
func coreSchemas() members {
	session := object(members{
		"user": object(members{
			"id": text(), "name": optional(), "email": optional(), "image": optional(),
		}, true),
		"expires": members{"type": "string", "format": "date-time"},
	}, true)
	session["type"] = []string{"object", "null"}
	session["description"] = "The session with the members that the site adds, or null if nobody is signed in."
	return members{
		"Session":  session,
		"CSRF":     object(members{"csrfToken": described("the value of the field csrfToken")}, false, "csrfToken"),
		"Redirect": object(members{"url": described("the address to open next")}, false, "url"),
		"Provider": object(members{
			"id": text(), "name": text(), "type": described("oauth, oidc, email, credentials or webauthn"),
			"signinUrl": text(), "callbackUrl": text(),
		}, false, "id", "name", "type", "signinUrl", "callbackUrl"),
		"Providers": members{
			"type": "object", "description": "The providers by ID.", "additionalProperties": ref("Provider"),
		},
		"Problem": object(members{
			"type": text(), "title": text(), "status": members{"type": "integer"},
			"code":      described("identifies the problem for programs"),
			"detail":    described("a sentence for users, in their language"),
			"field":     described("the field of the request that the problem is about"),
			"reference": described("the reference of the error in the log"),
		}, true, "code"),
		"Failure": members{
			"description": "An error of an endpoint of Auth.js.",
			"anyOf": []members{
				object(members{
					"message": text(), "error": text(), "reference": described("the reference of the error in the log"),
				}, false),
				ref("Redirect"), text(), {"type": "null"},
			},
		},
	}
}

const (
	asJSON = "application/json"
	asPage = "text/html"
	tag    = "sign-in"
)

func of[T any]() reflect.Type { return reflect.TypeFor[T]() }

// coreOperations are the endpoints of core, by method and first part of the path.
var coreOperations = map[string]description{
	"GET session":   {"Get the session", tag, nil, members{asJSON: ref("Session")}, false},
	"POST session":  {"Update the session", tag, of[sessionUpdate](), members{asJSON: ref("Session")}, false},
	"GET csrf":      {"Get the CSRF token", tag, nil, members{asJSON: ref("CSRF")}, false},
	"POST csrf":     {"Get the CSRF token", tag, nil, members{asJSON: ref("CSRF")}, false},
	"GET providers": {"List the providers", tag, nil, members{asJSON: ref("Providers")}, false},
	"GET signin":    {"Get the sign-in page", tag, of[pageInput](), members{asPage: text()}, true},
	"POST signin":   {"Start a sign-in", tag, of[signInInput](), nil, true},
	"GET signout":   {"Get the sign-out page", tag, of[pageInput](), members{asPage: text()}, true},
	"POST signout":  {"Sign out", tag, nil, nil, true},
	"GET callback":  {"Complete a sign-in by a redirect or link", tag, of[callbackQuery](), members{asPage: text()}, true},
	"POST callback": {
		"Complete a sign-in with credentials, a passkey, a code or a form of the provider", tag, of[callbackInput](),
		members{asJSON: ref("Redirect"), asPage: text()}, true,
	},
	"GET error":          {"Get the error page", tag, of[pageInput](), members{asPage: text()}, true},
	"GET verify-request": {"Get the page after a request for a link", tag, of[pageInput](), members{asPage: text()}, true},
	"GET webauthn-options": {
		"Get the options of a passkey", tag, of[passkeyQuery](),
		members{asJSON: members{"anyOf": passkeyOptions}}, false,
	},
	"GET logout":              {"Continue after the sign-out at a provider", tag, of[logoutQuery](), nil, true},
	"POST backchannel-logout": {"End the sessions of a user of a provider", tag, of[logoutToken](), nil, false},
	"GET page.style":          {"Get the style sheet of the pages", tag, nil, members{"text/css": text()}, false},
	"GET page.script":         {"Get the script of the pages", tag, nil, members{"text/javascript": text()}, false},
	"GET onetap.script":       {"Get the script of One Tap", tag, nil, members{"text/javascript": text()}, false},
	"GET client.js":           {"Get the script of other pages", tag, nil, members{"text/javascript": text()}, false},
}

var tagDescriptions = map[string]string{
	tag:          "Sign-in and sessions. Clients of Auth.js use these endpoints.",
	"well-known": "Documents outside of the base path.",
}

// wellKnown are the documents outside of the base path.
var wellKnown = description{
	"Get a well-known document", "well-known", nil,
	members{asJSON: members{"description": "the document"}}, true,
}

// problemResponse is the response to a request that failed. Browsers get a page.
var problemResponse = members{
	"description": "The request failed.",
	"content": members{
		"application/problem+json": members{"schema": ref("Problem")},
		asJSON:                     members{"schema": ref("Failure")},
		asPage:                     members{"schema": text()},
	},
}

var securitySchemes = members{
	"session": members{
		"type": "apiKey", "in": "cookie", "name": "__Secure-authjs.session-token",
		"description": "The session cookie. Over http its name has no prefix, and the site can choose another name.",
	},
	"bearer": members{
		"type": "http", "scheme": "bearer",
		"description": "A session token, an API key or an access token, if the site accepts them.",
	},
}
