package prometheus

import (
	"reflect"
	"sync"
	"time"

	client "github.com/prometheus/client_golang/prometheus"

	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/observe"
)

// hasher is a provider that computes password hashes, such as the one of module providers/password.
type hasher interface{ Stats() observe.HashStats }

var (
	hashSlots = client.NewDesc("latchkey_hash_slots",
		"Maximum number of concurrent password hashes.", nil, nil)
	hashBusy = client.NewDesc("latchkey_hash_busy",
		"Number of password hashes in progress.", nil, nil)
	hashWaiting = client.NewDesc("latchkey_hash_waiting",
		"Number of requests that wait for a password hash.", nil, nil)
	hashRefused = client.NewDesc("latchkey_hash_refused_total",
		"Number of requests rejected because the queue for password hashes was full.", nil, nil)
	revocationAge = client.NewDesc("latchkey_revocation_age_seconds",
		"Time since the revocation list was last read.", nil, nil)
)

// load collects values at the time of each scrape.
type load struct {
	mu      sync.Mutex
	hashers map[hasher]bool
	auths   []*core.Auth
}

// Follow adds latchkey_revocation_age_seconds, the seconds since auth last read the revocation list. Of several Auths
// the largest value is reported. An Auth without Session.Revocation, or without a request so far, reports none. auth
// stays in memory. Follow is safe for concurrent use.
func (m *Metrics) Follow(auth *core.Auth) {
	m.load.mu.Lock()
	defer m.load.mu.Unlock()
	m.load.auths = append(m.load.auths, auth)
}

// hashes finds the providers of a configuration that compute hashes. A provider in several configurations counts once.
func (l *load) hashes(config core.Config) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range config.Providers {
		h, ok := p.(hasher)
		if !ok || !reflect.TypeOf(h).Comparable() {
			continue
		}
		if l.hashers == nil {
			l.hashers = map[hasher]bool{}
		}
		l.hashers[h] = true
	}
}

// Describe implements [client.Collector].
func (l *load) Describe(to chan<- *client.Desc) {
	for _, d := range []*client.Desc{hashSlots, hashBusy, hashWaiting, hashRefused, revocationAge} {
		to <- d
	}
}

// Collect implements [client.Collector].
func (l *load) Collect(to chan<- client.Metric) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var all observe.HashStats
	for h := range l.hashers {
		one := h.Stats()
		all.Slots, all.Busy = all.Slots+one.Slots, all.Busy+one.Busy
		all.Waiting, all.Refused = all.Waiting+one.Waiting, all.Refused+one.Refused
	}
	if len(l.hashers) > 0 {
		to <- client.MustNewConstMetric(hashSlots, client.GaugeValue, float64(all.Slots))
		to <- client.MustNewConstMetric(hashBusy, client.GaugeValue, float64(all.Busy))
		to <- client.MustNewConstMetric(hashWaiting, client.GaugeValue, float64(all.Waiting))
		to <- client.MustNewConstMetric(hashRefused, client.CounterValue, float64(all.Refused))
	}
	oldest, known := time.Duration(0), false
	for _, a := range l.auths {
		if s := a.Stats(); s.RevocationRead {
			oldest, known = max(oldest, s.RevocationAge), true
		}
	}
	if known {
		to <- client.MustNewConstMetric(revocationAge, client.GaugeValue, oldest.Seconds())
	}
}
