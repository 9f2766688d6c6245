package password

import (
	"crypto/sha256"
	_ "embed"
	"sort"
	"strings"
	"unicode/utf8"
)

// commonWords has the first five bytes of the SHA-256 of common passwords in lower case, sorted: 239 kB that need no
// decoding, and one wrong alarm in twenty million. They are the passwords of four characters and more of zxcvbn's list
// (github.com/dropbox/zxcvbn, data/passwords.txt), which counts what was found most often among ten million, and of the
// older one in github.com/ccojocar/zxcvbn-go, under their licences: see LICENSE-zxcvbn.
//
//go:embed common.bin
var commonWords string

const commonEntry = 5

// listed reports whether a word in lower case is in the list.
func listed(word string) bool {
	sum := sha256.Sum256([]byte(word))
	want := string(sum[:commonEntry])
	n := len(commonWords) / commonEntry
	i := sort.Search(n, func(i int) bool { return entry(i) >= want })
	return i < n && entry(i) == want
}

func entry(i int) string { return commonWords[i*commonEntry : (i+1)*commonEntry] }

// Common reports whether a password is among those that are tried first: one of a built-in list of 47,705, in any case;
// one that is repeated, "passwordpassword"; one with a row of digits or letters beside it, "password123456789"; or
// nothing but such rows, "abcdefghijklmnop", "111111111111111". It asks nobody.
func Common(password string) bool {
	word := password
	if utf8.ValidString(password) { // else ToLower would make all bytes that are no letters one and the same
		word = strings.ToLower(password)
	}
	if listed(word) || row(word) {
		return true
	}
	if unit := repeated(word); unit != "" && (utf8.RuneCountInString(unit) <= 4 || listed(unit) || row(unit)) {
		return true
	}
	for i := range word { // a common word and a row, in either order
		head, tail := word[:i], word[i:]
		if len(head) >= 4 && row(tail) && listed(head) || len(tail) >= 4 && row(head) && listed(tail) {
			return true
		}
	}
	return false
}

// row reports whether a text is characters in a row, as on a keyboard or in an alphabet: the same one again, or each
// the next. "1234567890" counts, as the zero follows the nine.
func row(text string) bool {
	if text == "" {
		return false
	}
	return steps(text, 0) || steps(text, 1) || steps(text, -1) || keyboard(text)
}

// steps reports whether each byte of a text is the one before plus step.
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

// keyboard reports whether a text runs along the rows of a keyboard, from any key on, in either direction.
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

// repeated returns the shortest text that gives word when it is repeated, empty when there is none. It takes time in
// proportion to the length of word: what repeats is found again within the word twice over.
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
