package ui

import "strings"

// browsers and systems map substrings of User-Agent headers to names. The order matters, because most browsers also
// name browsers that they imitate.
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

// Device returns the names of the browser and of the operating system or device in a User-Agent header, for example
// "Firefox" and "Windows". A name is empty if it is unknown. The names are from a fixed list, so a client that forges
// the header cannot choose any other text.
func Device(userAgent string) (browser, system string) {
	find := func(names [][2]string) string {
		for _, n := range names {
			if strings.Contains(userAgent, n[0]) {
				return n[1]
			}
		}
		return ""
	}
	return find(browsers), find(systems)
}
