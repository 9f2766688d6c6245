package apikey

import "context"

// Forged returns a well-formed key with the ID of a key and another secret.
func Forged(prefix, key string) string {
	t, ok := parseToken(prefix, key)
	if !ok {
		panic("malformed key")
	}
	last := byte('0')
	if t.secret[len(t.secret)-1] == last {
		last = '1'
	}
	t.secret = t.secret[:len(t.secret)-1] + string(last)
	return t.text(prefix)
}

// Remind sends the emails that are due, as the task of the plugin does.
func (k *Keys) Remind(ctx context.Context) error { return k.remind(ctx) }
