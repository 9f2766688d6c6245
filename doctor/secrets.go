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

const makeAnother = "create a new one: latchkey secret, or openssl rand -base64 33"

// secretsInUse returns the configuration's secrets or, as core.New does, the environment's.
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

// secrets checks the secrets that sign and encrypt.
type secrets struct{ *exam }

// look reports secrets that can be guessed. core.New checks only the length.
func (e secrets) look() {
	all, where := secretsInUse(&e.config, e.getenv)
	samples := samples()
	sound := len(all) > 0
	for i, s := range all {
		what, fix := judge(string(s), samples)
		if what == "" && len(s) < 32 && e.config.InsecureShortSecrets {
			what, fix = fmt.Sprintf("has %d bytes, which InsecureShortSecrets allows", len(s)),
				makeAnother+", put it in front of this one, and remove this one when its sessions have expired"
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

// leastContent is the minimum size in bytes of a compressed secret. Random text cannot be compressed.
const leastContent = 28

// judge returns the problem of a secret and its fix. Both are empty if it finds none.
func judge(s, samples string) (what, fix string) {
	trimmed := strings.Trim(s, " \t\r\n\"'")
	switch {
	case trimmed != s:
		return "has quotes or white space around it", "remove them: they are part of the secret, and another program " +
			"may read the same file without them"
	case invented(s):
		return "is a placeholder", makeAnother
	case len(s) >= 8 && strings.Contains(samples, s):
		return "is in an example file of this folder", makeAnother + ", and leave the example empty"
	case len(s) >= 16 && content(s) < leastContent || spread(s) < 64 && len(s) >= 16:
		return "repeats itself or counts up: it can be guessed", makeAnother
	}
	return "", ""
}

// invented reports whether a value is a placeholder from documentation.
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
		slices.Contains(strings.FieldsFunc(s, separates), "TODO") // random secrets can contain it within words
}

func separates(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }

// content returns the size of a secret after compression. It compresses the bytes and the differences between
// consecutive bytes, and returns the smaller size.
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
	_, _ = w.Write(raw) // writing to memory cannot fail
	_ = w.Close()
	return out.Len()
}

// spread estimates the entropy of a text in bits from its number of different bytes.
func spread(s string) float64 {
	seen := map[byte]bool{}
	for i := range len(s) {
		seen[s[i]] = true
	}
	return float64(len(s)) * math.Log2(float64(len(seen)))
}

// samples returns the first 64 KiB of each example file that repositories often contain.
func samples() string {
	var all strings.Builder
	for _, name := range []string{".env.example", ".env.sample", ".env.template", ".env.dist", "compose.yaml"} {
		file, err := os.Open(name) //nolint:gosec // one of the five names above
		if err != nil {
			continue
		}
		_, _ = io.Copy(&all, io.LimitReader(file, 64<<10)) // an unreadable file is skipped
		_ = file.Close()
	}
	return all.String()
}
