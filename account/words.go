package account

import (
	"fmt"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// doneText is what the page says about a change that was made, "" for what it does not know.
func doneText(what string) string {
	switch what {
	case "unlinked":
		return "That account no longer opens yours."
	case "passkey-removed":
		return "The passkey is removed. Your device may still offer it; delete it there too."
	case "passkey-named":
		return "The name is changed."
	case "ended":
		return "Done. Whoever was signed in there is signed out."
	case "email-asked":
		return "We sent a letter to the new address. Open its link in this browser; until then nothing changes."
	case "email-changed":
		return "Your address is changed."
	}
	return ""
}

// problemText is what the page says about a change that was not made.
func problemText(code string) string {
	switch code {
	case "":
		return ""
	case codeLast:
		return "This is your last way to sign in. Add another one first."
	case codeNotFound:
		return "That is gone already. The page shows what is there now."
	case codeBusy:
		return "Another change is under way. Try again in a moment."
	case codeEmail:
		return "That is not an e-mail address. Check it and try again."
	case codeSameEmail:
		return "That is your address already."
	case codeLinkInvalid:
		return "This link was used before, has expired, or belongs to another browser. Nothing has changed."
	case codePhrase:
		return "Nothing was deleted: the words do not match."
	case codeName:
		return "A name has 64 characters at most."
	case codeMail:
		return "The letter could not be sent. Try again in a moment."
	case codeNotListed:
		return "Sessions cannot be ended one by one on this site."
	}
	return "That did not work. Try again."
}

// ago says how long ago something was, and the day when that is longer.
func ago(at, now time.Time) string {
	switch d := now.Sub(at); {
	case d < 2*time.Minute:
		return "just now"
	case d < time.Hour:
		return fmt.Sprintf("%d minutes ago", int(d.Minutes()))
	case d < 2*time.Hour:
		return "an hour ago"
	case d < 24*time.Hour:
		return fmt.Sprintf("%d hours ago", int(d.Hours()))
	case d < 48*time.Hour:
		return "yesterday"
	case d < 14*24*time.Hour:
		return fmt.Sprintf("%d days ago", int(d.Hours()/24))
	}
	return "on " + at.UTC().Format("2 January 2006")
}

// browsers and systems are looked for in a User-Agent in this order: most browsers also name those that they want to
// be taken for.
var (
	browsers = [][2]string{
		{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser/", "Samsung Internet"}, {"Firefox/", "Firefox"},
		{"FxiOS/", "Firefox"}, {"CriOS/", "Chrome"}, {"Chrome/", "Chrome"}, {"Safari/", "Safari"},
	}
	systems = [][2]string{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"CrOS", "ChromeOS"}, {"Windows", "Windows"},
		{"Mac OS X", "Mac"}, {"Linux", "Linux"},
	}
)

// device is what the page calls the browser of a session: "Firefox on Windows", or what it says of itself.
func device(agent string) string {
	find := func(names [][2]string) string {
		for _, n := range names {
			if strings.Contains(agent, n[0]) {
				return n[1]
			}
		}
		return ""
	}
	const most = 60
	switch browser, system := find(browsers), find(systems); {
	case agent == "":
		return "A browser"
	case browser != "" && system != "":
		return browser + " on " + system
	case browser != "":
		return browser
	case len(agent) > most:
		return strings.ToValidUTF8(agent[:most], "") + "…"
	}
	return agent
}

// about says when and from where a session was used.
func (s *Session) about(now time.Time) string {
	var parts []string
	switch {
	case s.Current:
		parts = append(parts, "In use now")
	case !s.Seen.IsZero():
		parts = append(parts, "Last used "+ago(s.Seen, now))
	}
	if !s.Made.IsZero() {
		parts = append(parts, "signed in "+ago(s.Made, now))
	}
	if s.Network != "" {
		parts = append(parts, "from "+s.Network)
	}
	if len(parts) == 0 {
		return "Until " + s.Expires.UTC().Format("2 January 2006")
	}
	return capital(strings.Join(parts, ", "))
}

// about says when a passkey was made and used.
func (p *Passkey) about(now time.Time) string {
	var parts []string
	if !p.Made.IsZero() {
		parts = append(parts, "first seen "+ago(p.Made, now))
	}
	if !p.Used.IsZero() {
		parts = append(parts, "last used "+ago(p.Used, now))
	}
	if p.Synced {
		parts = append(parts, "synced between your devices")
	}
	return capital(strings.Join(parts, ", "))
}

// title is what the page calls a passkey.
func (p *Passkey) title() string {
	if p.Name == "" {
		return "Passkey"
	}
	return p.Name
}

func capital(s string) string {
	if s == "" {
		return s
	}
	return strings.ToUpper(s[:1]) + s[1:]
}

// hostOf is the host of an address: "app.example".
func hostOf(address string) string {
	_, rest, _ := strings.Cut(address, "://")
	host, _, _ := strings.Cut(rest, "/")
	return host
}

// linkable reports whether a provider can be added from the page: those of OAuth.
func linkable(p core.ProviderInfo) bool { return p.Type == core.TypeOAuth || p.Type == core.TypeOIDC }
