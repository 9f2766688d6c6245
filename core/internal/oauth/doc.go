// Package oauth is the client of one OAuth 2.0 or OpenID Connect provider, and of services that still speak OAuth 1.0a.
// It knows neither requests of visitors nor cookies, sessions and users: plain values come in, plain values and errors
// go out.
//
// A sign-in takes these steps, each of which needs what an earlier one returned:
//
//	[Client.StartEndpoints] → [Client.Authorize]      the visitor goes to the provider
//	[Client.Endpoints] → [ReadAnswer] → [Client.Accept] → [Client.Redeem]
//	                   → [Client.VerifyIDToken] → [Client.Userinfo]
//
// Between ReadAnswer and Accept the caller compares the state of the answer with the one sent, which only the visitor's
// browser remembers. [Client.Refresh] with [Client.VerifyRefreshed] and [Client.ReadLogoutToken] with
// [Client.VerifyLogoutToken] stand apart. OAuth 1.0a has a client and steps of its own: [Client1.RequestToken] →
// [Client1.AuthorizeRequestToken], and at the answer [ReadVerifier] → [Client1.AccessToken] → [Client1.Userinfo].
//
// Errors name the provider and hold no code, token or secret. These say whose fault it is: [*AnswerError], [*Refusal],
// [ErrNoCode], [ErrNotAllowed], [ErrURLTooLong] and [ErrInvalidGrant].
package oauth
