package password

import (
	"crypto/sha256"
	_ "embed"
	"sort"
	"strings"
	"unicode/utf8"
)

// commonWords contains the first five bytes of the SHA-256 of common passwords in lower case, sorted. It has 239 kB,
// needs no decoding, and reports one uncommon password in twenty million as common. The passwords are those of at least
// four characters in the list of zxcvbn (github.com/dropbox/zxcvbn, data/passwords.txt), which are the most frequent of
// ten million, and in the older list of github.com/ccojocar/zxcvbn-go. LICENSE-zxcvbn has their licenses.
//
//go:embed common.bin
var commonWords string

const commonEntry = 5

func listed(word string) bool {
	sum := sha256.Sum256([]byte(word))
	want := string(sum[:commonEntry])
	n := len(commonWords) / commonEntry
	i := sort.Search(n, func(i int) bool { return entry(i) >= want })
	return i < n && entry(i) == want
}

func entry(i int) string { return commonWords[i*commonEntry : (i+1)*commonEntry] }

// Common reports whether a password is one that attackers try first, without any request. These are, in any case: the
// 47,705 passwords of a built-in list; repeated texts ("passwordpassword"); a common password next to a sequence
// ("password123456789"); and sequences ("abcdefghijklmnop", "111111111111111").
func Common(password string) bool {
	word := password
	if utf8.ValidString(password) { // otherwise ToLower would replace all invalid bytes with the same character
		word = strings.ToLower(password)
	}
	if listed(word) || row(word) {
		return true
	}
	if unit := repeated(word); unit != "" && (utf8.RuneCountInString(unit) <= 4 || listed(unit) || row(unit)) {
		return true
	}
	for i := range word { // a common word and a sequence, in either order
		head, tail := word[:i], word[i:]
		if len(head) >= 4 && row(tail) && listed(head) || len(tail) >= 4 && row(head) && listed(tail) {
			return true
		}
	}
	return false
}

// row reports whether a text is a sequence: one repeated character, or neighbors in the alphabet, among the digits or
// on a keyboard. "1234567890" is one, because 0 follows 9.
func row(text string) bool {
	if text == "" {
		return false
	}
	return steps(text, 0) || steps(text, 1) || steps(text, -1) || keyboard(text)
}

// steps reports whether each byte of a text is the previous byte plus step.
func steps(text string, step int) bool {
	for i := 1; i < len(text); i++ {
		before, now := int(text[i-1]), int(text[i])
		wraps := step == 1 && before == '9' && now == '0' || step == -1 && before == '0' && now == '9'
		if now != before+step && !wraps {
			return false
		}
	}
	return true
}

// keyboard reports whether a text follows the rows of a keyboard, from any key and in either direction.
func keyboard(text string) bool {
	if len(text) < 4 {
		return false
	}
	const rows = "qwertyuiopasdfghjklzxcvbnm qwertzuiopasdfghjklyxcvbnm azertyuiopqsdfghjklmwxcvbn 1q2w3e4r5t6y7u8i9o0p " +
		"1qaz2wsx3edc4rfv5tgb6yhn7ujm"
	return strings.Contains(rows, text) || strings.Contains(rows, string(reversed(text)))
}

func reversed(text string) []byte {
	b := []byte(text)
	for i, j := 0, len(b)-1; i < j; i, j = i+1, j-1 {
		b[i], b[j] = b[j], b[i]
	}
	return b
}

// repeated returns the shortest text that gives word when repeated, or "". It takes linear time: the period of a word
// is the next position of the word in the doubled word.
func repeated(word string) string {
	if len(word) < 2 {
		return ""
	}
	twice := word + word
	i := strings.Index(twice[1:], word) + 1
	if i >= len(word) {
		return ""
	}
	return word[:i]
}
