package core

import "github.com/latchkey-go/latchkey/core/internal/jwe"

// seals are the keys of what is sealed but is no cookie of its own.
type seals struct {
	state, challenge *jwe.Keyring
	flowKeys         [][]byte
}

func newSeals(secrets []string, faults *ConfigError) (s seals) {
	s.state = newKeyring(secrets, "encodedState", faults)
	s.challenge = newKeyring(secrets, "encodedWebauthnChallenge", faults)
	var err error
	if s.flowKeys, err = flowKeys(secrets); err != nil {
		faults.add(ErrInvalidConfig, "Secrets: %v", err)
	}
	return s
}
