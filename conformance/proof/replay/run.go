package main

import (
	"context"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/latchkey-go/latchkey/conformance/proof/wire"
	"github.com/latchkey-go/latchkey/core"
)

// send sends a request to the Auth under test, directly or through an adapter, and returns the response.
type send func(ctx context.Context, s wire.Site, r wireRequest) (answer, error)

// wireRequest is a request that is ready to be sent.
type wireRequest struct {
	method, url string
	header      map[string][]string
	body        string
	hasBody     bool
}

// replay runs one scenario and returns the differences.
func replay(sc scenario, start time.Time, k *keys, texts *textGroups, via send, parts bool) (diffs []string) {
	defer func() {
		if v := recover(); v != nil {
			diffs = append(diffs, fmt.Sprintf("the replayer panicked: %v", v))
		}
	}()
	rec := &recorder{}
	w := &world{start: start, rec: rec, texts: texts, binder: newBinder(), keys: k, store: newMemory(rec, start)}
	w.recorded, w.observed = warnings{}, warnings{}
	w.soft = &softAuthenticator{binder: w.binder}
	if w.parts = parts; parts {
		w.binder.uuid = factedUUID
	}
	defer func() {
		for _, end := range w.closers {
			end()
		}
	}()
	w.peer = &peer{world: w, documents: map[string]object{}}
	w.setClock(start)
	w.hosts, w.raw = hostsOf(sc), sc.raw
	if err := w.seed(sc.Seed); err != nil {
		return []string{err.Error()}
	}
	for i, st := range sc.Steps {
		name := fmt.Sprintf("step %d (%s %s)", i+1, st.Request.Method, st.Request.URL)
		if err := w.step(sc, st, via); err != nil {
			return append(diffs, name+": "+err.Error())
		}
		w.binder.settle(false)
		for _, d := range w.binder.diffs {
			diffs = append(diffs, name+": "+d)
		}
		w.binder.diffs = nil
		if len(diffs) > 0 {
			return diffs // later steps would only repeat it
		}
	}
	for _, table := range slices.Sorted(maps.Keys(sc.FinalState)) {
		want, got := sc.FinalState[table], w.store.rows(table)
		if len(want) != len(got) {
			w.binder.differ("final "+table, "want %d rows, got %d: %s", len(want), len(got), show(got))
			continue
		}
		for i := range want {
			w.binder.record(fmt.Sprintf("final %s[%d]", table, i), want[i], got[i])
		}
	}
	w.recorded.compare(w.observed, w.binder)
	w.binder.settle(false) // a raw response without decoded cookies leaves relations open
	return append(diffs, w.binder.diffs...)
}

func (w *world) step(sc scenario, st step, via send) error {
	w.setClock(w.start.Add(time.Duration(st.At) * time.Second))
	w.store.linked = ""
	if err := w.seed(st.Seed); err != nil {
		return err
	}
	declared := maps.Clone(sc.Config)
	maps.Copy(declared, st.Config)
	config, err := declaration{w}.config(declared, sc.Env)
	if err != nil {
		return err
	}
	if passwordsInStore(st, config) {
		_, err := core.New(config)
		w.rec.take()
		return err
	}
	w.mint(st)
	st = w.addedState.apply(st, config)
	var auth *core.Auth
	around := wire.Site{Auth: core.PerRequest("", func(context.Context, *core.Request) (*core.Auth, error) {
		a, err := core.New(config)
		auth = a
		return a, err
	})}
	if sc.Express != nil {
		config.BasePath = strings.TrimSuffix(sc.Express.Mount, "/*") // the wrapper uses the path where it is mounted
		if auth, err = core.New(config); err != nil {
			return err
		}
		around = wire.Site{Auth: auth, Mounted: true, SessionPage: sc.Express.SessionRoute}
	}
	w.peer.expected = nil
	for _, entry := range st.Trace {
		if entry["kind"] == "peer" {
			w.peer.expected = append(w.peer.expected, entry)
		}
	}
	r, err := w.send(st.Request)
	if err != nil {
		return err
	}
	w.origin = originOf(r.url)
	got, err := via(context.Background(), around, r)
	if err != nil {
		return err
	}
	compare := comparison{w}
	got = compare.withoutParts(got)
	w.lengths = nil
	if got.wire && st.Request.Method == "HEAD" {
		st.Response.Body, st.Response.EmptyBody = present{}, true // HTTP sends no body; the recording was made without HTTP
	}
	st = redirectInvalidAddress(withStoredExpiry(st, config), config)
	w.soft.rememberChallenge(got.body)
	compare.response(st.Response, got, auth)
	observed := w.rec.take()
	w.recorded.note(st.Trace)
	w.observed.note(observed)
	compare.trace(compare.seen(st.Trace), compare.seen(observed))
	return nil
}

// originOf returns the origin of a URL.
func originOf(u string) string {
	parts := strings.SplitN(u, "/", 4)
	return strings.Join(parts[:min(3, len(parts))], "/")
}

var host = regexp.MustCompile(`https?://([a-z0-9.-]+)`)

// hostsOf returns the hosts in a scenario.
func hostsOf(sc scenario) (hosts []string) {
	raw := show(sc.Config)
	for _, st := range sc.Steps {
		raw += " " + st.Request.URL
		for _, m := range st.Minted {
			raw += " " + fmt.Sprint(m.Claims["origin"])
		}
	}
	for _, m := range host.FindAllStringSubmatch(raw, -1) {
		if !slices.Contains(hosts, m[1]) {
			hosts = append(hosts, m[1])
		}
	}
	return hosts
}
