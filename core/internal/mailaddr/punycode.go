package mailaddr

import (
	"slices"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// ASCII returns a canonical address with the labels of its domain as A-labels (RFC 5890 section 2.3.2.1): "ada@bücher.example"
// as "ada@xn--bcher-kva.example". An address whose domain is ASCII is returned as it is, and so is a label that is too long.
func ASCII(address string) string {
	local, domain, _ := strings.Cut(address, "@")
	labels := strings.Split(domain, ".")
	for i, label := range labels {
		if encoded := acePrefix + encode(label); !isASCII(label) && len(encoded) <= maxLabel {
			labels[i] = encoded
		}
	}
	return local + "@" + strings.Join(labels, ".")
}

const acePrefix = "xn--"

// unicodeLabels returns a domain with its A-labels as U-labels. A label that is no A-label of the one canonical spelling of a host
// name stays as it is: nothing else is ever turned into it.
func unicodeLabels(domain string) string {
	if !strings.Contains(domain, acePrefix) {
		return domain
	}
	labels := strings.Split(domain, ".")
	for i, label := range labels {
		encoded, ok := strings.CutPrefix(label, acePrefix)
		if !ok {
			continue
		}
		decoded, ok := decode(encoded)
		if ok && !isASCII(decoded) && encode(decoded) == encoded && fold(norm.NFKC.String(decoded)) == decoded && hostName(decoded) {
			labels[i] = decoded
		}
	}
	return strings.Join(labels, ".")
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r >= utf8.RuneSelf })
}

// The parameters of Punycode (RFC 3492 section 5).
const (
	base        = 36
	tMin        = 1
	tMax        = 26
	skew        = 38
	damp        = 700
	initialBias = 72
	initialN    = 128
)

// adapt is the bias after a delta (RFC 3492 section 6.1).
func adapt(delta, points int, first bool) int {
	if first {
		delta /= damp
	} else {
		delta /= 2
	}
	delta += delta / points
	k := 0
	for ; delta > (base-tMin)*tMax/2; k += base {
		delta /= base - tMin
	}
	return k + (base-tMin+1)*delta/(delta+skew)
}

func threshold(k, bias int) int { return min(max(k-bias, tMin), tMax) }

// decode decodes Punycode (RFC 3492 section 6.2) in lower case. A label is short, so that no number here comes near the limits of
// an int of 64 bits; what would is refused.
func decode(s string) (string, bool) {
	if len(s) > maxLabel {
		return "", false
	}
	var out []rune
	if at := strings.LastIndexByte(s, '-'); at >= 0 {
		out, s = []rune(s[:at]), s[at+1:]
	}
	n, i, bias := initialN, 0, initialBias
	for s != "" {
		before, weight := i, 1
		for k := base; ; k += base {
			if s == "" {
				return "", false
			}
			digit := strings.IndexByte("abcdefghijklmnopqrstuvwxyz0123456789", s[0])
			s = s[1:]
			i += digit * weight
			if digit < 0 || i > 1<<31 {
				return "", false
			}
			t := threshold(k, bias)
			if digit < t {
				break
			}
			weight *= base - t
			if weight > 1<<31 {
				return "", false
			}
		}
		bias = adapt(i-before, len(out)+1, before == 0)
		n, i = n+i/(len(out)+1), i%(len(out)+1)
		if n > utf8.MaxRune || !utf8.ValidRune(rune(n)) {
			return "", false
		}
		out = slices.Insert(out, i, rune(n))
		i++
	}
	return string(out), true
}

// encode encodes a label as Punycode (RFC 3492 section 6.3).
func encode(label string) string {
	points := []rune(label)
	var out strings.Builder
	for _, r := range points {
		if r < initialN {
			out.WriteRune(r)
		}
	}
	basic := out.Len()
	if basic > 0 {
		out.WriteByte('-')
	}
	n, delta, bias := rune(initialN), 0, initialBias
	for done := basic; done < len(points); n++ {
		next := rune(utf8.MaxRune)
		for _, r := range points {
			if r >= n {
				next = min(next, r)
			}
		}
		delta += int(next-n) * (done + 1)
		n = next
		for _, r := range points {
			if r < n {
				delta++
			}
			if r != n {
				continue
			}
			q := delta
			for k := base; ; k += base {
				t := threshold(k, bias)
				if q < t {
					break
				}
				writeDigit(&out, t+(q-t)%(base-t))
				q = (q - t) / (base - t)
			}
			writeDigit(&out, q)
			bias = adapt(delta, done+1, done == basic)
			delta = 0
			done++
		}
		delta++
	}
	return out.String()
}

func writeDigit(out *strings.Builder, digit int) {
	out.WriteByte("abcdefghijklmnopqrstuvwxyz0123456789"[digit])
}
