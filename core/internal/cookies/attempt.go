package cookies

import "github.com/latchkey-go/latchkey/internal/cookie"

// attempt is the cookie that the script of the sign-in page sets when the user presses a button. The script marks the
// last used sign-in method. Only this site knows whether the user was signed in: a page that is shown again says
// nothing.
const attempt = "latchkey-tried"

// ConfirmAttempt returns the cookie that tells the script that the user was signed in. A browser without the script
// gets none. The cookie has no data about the user or the method. path is that of the auth routes.
func ConfirmAttempt(jar cookie.Jar, path string, secure bool) []cookie.Cookie {
	if value, _ := jar.Get(attempt); value != "1" {
		return nil
	}
	return []cookie.Cookie{{
		Name: attempt, Value: "ok", Path: path, SameSite: "Lax", Secure: secure, HasMaxAge: true, MaxAge: 400 * 24 * 60 * 60,
	}}
}
