package password

import (
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/crypto/argon2"
)

// Params are the costs of argon2id (RFC 9106). The zero value means 19 MiB, 2 passes and 1 lane.
type Params struct {
	// Memory is the memory of one hash computation, in KiB. The default is 19,456.
	Memory uint32
	// Time is the number of passes over the memory. The default is 2.
	Time uint32
	// Threads is the number of threads of one hash computation. The default is 1, which gives busy servers the most
	// throughput.
	Threads uint8
}

const (
	saltLength = 16
	keyLength  = 32
	// maxCostFactor limits the parameters of a stored hash to this multiple of the configured ones, so that an attacker
	// who can write a row cannot exhaust the process.
	maxCostFactor = 10
	// leastWork is the cost of the weakest recommended parameters, in KiB times passes. ASVS 5.0 appendix C lists 7,168
	// KiB with 5 passes as the smallest memory.
	leastWork   = 7168 * 5
	leastMemory = 7168
)

// withDefaults replaces zero fields by their defaults.
func (p Params) withDefaults() Params {
	if p.Memory == 0 {
		p.Memory = 19456
	}
	if p.Time == 0 {
		p.Time = 2
	}
	if p.Threads == 0 {
		p.Threads = 1
	}
	return p
}

// check returns an error if p, with its defaults set, is too weak or too costly.
func (p Params) check() error {
	switch {
	case p.Memory < leastMemory || uint64(p.Memory)*uint64(p.Time) < leastWork:
		return fmt.Errorf("the Hash of %d KiB and %d passes is too weak: use the zero value, or at least %d KiB, and "+
			"%d KiB times passes", p.Memory, p.Time, leastMemory, leastWork)
	case p.Memory > 1<<20 || p.Time > 100 || p.Threads > 16:
		return fmt.Errorf("the Hash of %d KiB, %d passes and %d lanes is a denial of service: use the zero value, or at "+
			"most %d KiB, 100 passes and 16 lanes", p.Memory, p.Time, p.Threads, 1<<20)
	}
	return nil
}

// encoded is a parsed hash of argon2id, or of argon2i if i is true.
type encoded struct {
	params    Params
	i         bool
	salt, key []byte
}

// errCostly rejects a hash that is too costly to compute.
var errCostly = errors.New("password: the parameters of the stored hash are more than ten times those of the " +
	"configuration: it is not computed")

// errMalformed rejects a hash that cannot be parsed. It does not contain the hash.
var errMalformed = errors.New("password: the stored hash is malformed")

// hash returns a hash in the PHC string format: $argon2id$v=19$m=19456,t=2,p=1$<salt>$<key>.
func (p Params) hash(random io.Reader, password []byte) (string, error) {
	salt := make([]byte, saltLength)
	if _, err := io.ReadFull(random, salt); err != nil {
		return "", fmt.Errorf("password: salt: %w", err)
	}
	key := argon2.IDKey(password, salt, p.Time, p.Memory, p.Threads, keyLength)
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, p.Memory, p.Time, p.Threads,
		base64.RawStdEncoding.EncodeToString(salt), base64.RawStdEncoding.EncodeToString(key)), nil
}

// matches hashes password with the parameters of e and compares in constant time.
func (e *encoded) matches(password []byte) bool {
	p, compute := e.params, argon2.IDKey
	if e.i {
		compute = argon2.Key
	}
	key := compute(password, e.salt, p.Time, p.Memory, p.Threads, uint32(len(e.key))) //nolint:gosec // 16 to 64
	return subtle.ConstantTimeCompare(key, e.key) == 1
}

// affordable returns an error if the parameters are more than ten times the configured ones.
func (e *encoded) affordable(own Params) error {
	p := e.params
	if uint64(p.Memory) > maxCostFactor*uint64(own.Memory) || uint64(p.Threads) > maxCostFactor*uint64(own.Threads) ||
		uint64(p.Memory)*uint64(p.Time) > maxCostFactor*uint64(own.Memory)*uint64(own.Time) {
		return errCostly
	}
	return nil
}

// parse parses an argon2id hash, as this package stores it. Numbers are decimal without signs or leading zeros, so that
// each hash has only one encoding.
func parse(text string) (*encoded, error) { return parseArgon2(text, "argon2id") }

// parseArgon2 parses a hash of the given variant in the PHC string format.
func parseArgon2(text, variant string) (*encoded, error) {
	parts := strings.Split(text, "$")
	// The base64 decoder skips line breaks, so they are rejected here.
	if len(parts) != 6 || strings.ContainsAny(text, "\r\n") ||
		parts[0] != "" || parts[1] != variant || parts[2] != "v=19" {
		return nil, errMalformed
	}
	costs := strings.Split(parts[3], ",")
	if len(costs) != 3 {
		return nil, errMalformed
	}
	memory, ok1 := number(costs[0], "m=", 32)
	passes, ok2 := number(costs[1], "t=", 32)
	lanes, ok3 := number(costs[2], "p=", 8)
	salt, err1 := base64.RawStdEncoding.Strict().DecodeString(parts[4])
	key, err2 := base64.RawStdEncoding.Strict().DecodeString(parts[5])
	switch {
	case !ok1 || !ok2 || !ok3 || err1 != nil || err2 != nil,
		memory < 8*lanes, len(salt) < 8 || len(salt) > 64, len(key) < 16 || len(key) > 64:
		return nil, errMalformed
	}
	params := Params{uint32(memory), uint32(passes), uint8(lanes)} //nolint:gosec // ParseUint bounds them
	return &encoded{params: params, i: variant == "argon2i", salt: salt, key: key}, nil
}

// number parses "<name><number>".
func number(text, name string, bits int) (uint64, bool) {
	digits, ok := strings.CutPrefix(text, name)
	if !ok || digits == "" || digits[0] == '0' || digits[0] == '+' {
		return 0, false
	}
	n, err := strconv.ParseUint(digits, 10, bits)
	return n, err == nil
}
