package doctor

import (
	"bytes"
	"compress/flate"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"unicode"

	"github.com/latchkey-go/latchkey/core"
)

const makeAnother = "make a new one: latchkey secret, or openssl rand -base64 33"

// secretsInUse are those of the configuration, or of the environment as core.New reads it.
func secretsInUse(config *core.Config, getenv func(string) string) (all []core.Secret, where func(int) string) {
	if len(config.Secrets) > 0 {
		return config.Secrets, func(i int) string { return fmt.Sprintf("Secrets[%d]", i) }
	}
	var names []string
	for _, name := range []string{"AUTH_SECRET_3", "AUTH_SECRET_2", "AUTH_SECRET_1", "AUTH_SECRET"} {
		if s := getenv(name); s != "" {
			all, names = append(all, core.Secret(s)), append(names, name)
		}
	}
	return all, func(i int) string { return names[i] }
}

// secrets are about those that sign and seal.
type secrets struct{ *exam }

// look looks for secrets that can be guessed. core.New counts bytes alone.
func (e secrets) look() {
	all, where := secretsInUse(&e.config, e.getenv)
	samples := samples()
	sound := len(all) > 0
	for i, s := range all {
		what, fix := judge(string(s), samples)
		if what == "" && len(s) < 32 && e.config.InsecureShortSecrets {
			what, fix = fmt.Sprintf("has %d bytes, which InsecureShortSecrets lets pass", len(s)),
				makeAnother+", and put it in front of this one, which goes when the sessions of before have ended"
		}
		if what != "" {
			sound = false
			e.report.add("secrets", Wrong, where(i)+" "+what, fix)
		}
	}
	if sound && e.auth != nil {
		e.report.ok("secrets", "%s, the newest of %d bytes", many(len(all), "secret"), len(all[0]))
	}
}

// leastContent is how many bytes a compressed secret has at least: random text cannot be compressed.
const leastContent = 28

// judge says what is wrong with a secret; empty: nothing that can be seen.
func judge(s, samples string) (what, fix string) {
	trimmed := strings.Trim(s, " \t\r\n\"'")
	switch {
	case trimmed != s:
		return "has quotes or white space around it", "remove them: they are part of the secret, and another program " +
			"that reads the same file may not see them"
	case invented(s):
		return "is a word of an example", makeAnother
	case len(s) >= 8 && strings.Contains(samples, s):
		return "stands in an example file of this folder, for all to read", makeAnother + ", and leave the example empty"
	case len(s) >= 16 && content(s) < leastContent || spread(s) < 64 && len(s) >= 16:
		return "repeats itself or counts up: it can be guessed", makeAnother
	}
	return "", ""
}

// invented reports whether a value is one that documentation has in place of a real one.
func invented(s string) bool {
	low := strings.ToLower(s)
	for _, word := range []string{
		"changeme", "change-me", "change_me", "change this", "replace-me", "replace_me", "replaceme", "your-secret",
		"your_secret", "yoursecret", "my-secret", "mysecret", "supersecret", "super-secret", "example-secret", "your-client",
		"your_client", "insert-", "placeholder", "xxxxxx", "<", "...", "…",
	} {
		if strings.Contains(low, word) {
			return true
		}
	}
	return low == "secret" || low == "test" || low == "password" || strings.HasPrefix(low, "openssl rand") ||
		slices.Contains(strings.FieldsFunc(s, separates), "TODO") // chance writes it within words
}

func separates(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// content is the size of a secret after compression, as it is and as the steps between its bytes.
func content(s string) int {
	steps := make([]byte, len(s))
	for i := 1; i < len(s); i++ {
		steps[i] = s[i] - s[i-1]
	}
	return min(compressed([]byte(s)), compressed(steps))
}

func compressed(raw []byte) int {
	var out bytes.Buffer
	w, err := flate.NewWriter(&out, flate.BestCompression)
	if err != nil {
		return len(raw)
	}
	_, _ = w.Write(raw) // into memory
	_ = w.Close()
	return out.Len()
}

// spread estimates the bits of a text from how many different bytes it has.
func spread(s string) float64 {
	seen := map[byte]bool{}
	for i := range len(s) {
		seen[s[i]] = true
	}
	return float64(len(s)) * math.Log2(float64(len(seen)))
}

// samples are the texts of the example files that repositories have beside .env, bounded.
func samples() string {
	var all strings.Builder
	for _, name := range []string{".env.example", ".env.sample", ".env.template", ".env.dist", "compose.yaml"} {
		file, err := os.Open(name) //nolint:gosec // one of the five names above
		if err != nil {
			continue
		}
		_, _ = io.Copy(&all, io.LimitReader(file, 64<<10)) // what cannot be read is not compared
		_ = file.Close()
	}
	return all.String()
}
