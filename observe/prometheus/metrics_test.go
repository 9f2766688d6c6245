package prometheus_test

import (
	"context"
	"fmt"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	client "github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/latchkey-go/latchkey/conformance/kit/observetest"
	"github.com/latchkey-go/latchkey/core"
	"github.com/latchkey-go/latchkey/core/audit"
	"github.com/latchkey-go/latchkey/core/observe"
	"github.com/latchkey-go/latchkey/observe/prometheus"
	"github.com/latchkey-go/latchkey/storage/memory"
)

// measured returns metrics and a function that scrapes them.
func measured(t *testing.T) (*prometheus.Metrics, func() string) {
	t.Helper()
	registry := client.NewPedanticRegistry()
	metrics, err := prometheus.New(registry)
	if err != nil {
		t.Fatal(err)
	}
	handler := promhttp.HandlerFor(registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError})
	return metrics, func() string {
		answer := httptest.NewRecorder()
		handler.ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
		if answer.Code != 200 {
			t.Fatalf("a scrape answered %d: %s", answer.Code, answer.Body)
		}
		return answer.Body.String()
	}
}

// samples returns the lines of a scrape that begin with name, without buckets of histograms.
func samples(scrape, name string) string {
	var lines []string
	for line := range strings.Lines(scrape) {
		if strings.HasPrefix(line, name) && !strings.Contains(line, "_bucket{") {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, "")
}

const wantDecisions = `latchkey_decisions_total{name="account.linked",outcome="ok",provider="acme",reason=""} 1
latchkey_decisions_total{name="config",outcome="ok",provider="",reason=""} 1
latchkey_decisions_total{name="csrf",outcome="refused",provider="credentials",reason="no_token"} 1
latchkey_decisions_total{name="mail.asked",outcome="ok",provider="email",reason=""} 1
latchkey_decisions_total{name="signin",outcome="ok",provider="acme",reason=""} 1
latchkey_decisions_total{name="signin",outcome="ok",provider="credentials",reason=""} 1
latchkey_decisions_total{name="signin",outcome="refused",provider="acme",reason="request"} 1
latchkey_decisions_total{name="signin",outcome="refused",provider="credentials",reason="credentials"} 2
latchkey_decisions_total{name="signin",outcome="refused",provider="email",reason="token_unknown"} 1
latchkey_decisions_total{name="signout",outcome="ok",provider="",reason=""} 1
latchkey_decisions_total{name="signup",outcome="ok",provider="acme",reason=""} 1
latchkey_decisions_total{name="user.created",outcome="ok",provider="acme",reason=""} 1
`

const wantProviders = `latchkey_provider_duration_seconds_count{call="authorize",outcome="ok",provider="credentials"} 1
latchkey_provider_duration_seconds_count{call="authorize",outcome="refused",provider="credentials"} 2
latchkey_provider_duration_seconds_count{call="discover",outcome="ok",provider="acme"} 4
latchkey_provider_duration_seconds_count{call="mail",outcome="ok",provider="email"} 1
latchkey_provider_duration_seconds_count{call="token",outcome="ok",provider="acme"} 1
latchkey_provider_duration_seconds_count{call="token",outcome="refused",provider="acme"} 1
latchkey_provider_duration_seconds_count{call="userinfo",outcome="ok",provider="acme"} 1
`

// TestScrape: sign-ins are recorded under documented names, without personal data.
func TestScrape(t *testing.T) {
	t.Parallel()
	metrics, scrape := measured(t)
	secrets := observetest.Drive(t.Context(), t, memory.New(), metrics.Wrap)
	text := scrape()
	if got := samples(text, "latchkey_decisions_total"); got != wantDecisions {
		t.Errorf("decisions\n%swant\n%s", got, wantDecisions)
	}
	if got := samples(text, "latchkey_provider_duration_seconds_count"); got != wantProviders {
		t.Errorf("providers\n%swant\n%s", got, wantProviders)
	}
	stores := samples(text, "latchkey_store_duration_seconds_count")
	for _, call := range []string{
		`call="create session",outcome="ok"`, `call="read session",outcome="ok"`, `call="transaction",outcome="ok"`,
		`call="use verification token",outcome="absent"`, `call="create user",outcome="ok"`,
	} {
		if !strings.Contains(stores, call) {
			t.Errorf("not measured: %s in\n%s", call, stores)
		}
	}
	for _, secret := range secrets {
		if strings.Contains(text, secret) {
			t.Errorf("a scrape has %q", secret)
		}
	}
}

// TestWrapCallsWhatIsThere: the application's Audit and Observe are called, and calls use the context of its Observe.
func TestWrapCallsWhatIsThere(t *testing.T) {
	t.Parallel()
	metrics, scrape := measured(t)
	type key struct{}
	var audited, began, ended int
	config := metrics.Wrap(core.Config{
		Audit: func(context.Context, audit.Event) { audited++ },
		Observe: func(ctx context.Context, _ observe.Call) (context.Context, func(observe.Outcome)) {
			began++
			return context.WithValue(ctx, key{}, "within"), func(observe.Outcome) { ended++ }
		},
	})
	config.Audit(t.Context(), audit.Event{Name: audit.SignIn, Outcome: audit.OK})
	ctx, end := config.Observe(t.Context(), observe.Call{Target: observe.Store, Name: "read user"})
	end(observe.OK)
	if audited != 1 || began != 1 || ended != 1 || ctx.Value(key{}) != "within" {
		t.Errorf("audited %d, began %d, ended %d, context %v", audited, began, ended, ctx)
	}
	if !strings.Contains(scrape(), `latchkey_store_duration_seconds_count{call="read user",outcome="ok"} 1`) {
		t.Error(scrape())
	}
}

// TestLabelsAreBounded: reasons that contain user input create no new series.
func TestLabelsAreBounded(t *testing.T) {
	t.Parallel()
	metrics, scrape := measured(t)
	emit := metrics.Wrap(core.Config{}).Audit
	emit(t.Context(), audit.Event{Name: audit.SignIn, Reason: "ada@example.com, a person", Count: 7})
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := range 500 {
				emit(t.Context(), audit.Event{
					Name: audit.SignIn, Outcome: audit.Refused, Reason: audit.Reason(fmt.Sprintf("typed-%d-%d", worker, i)),
				})
			}
		})
	}
	all.Wait()
	text := samples(scrape(), "latchkey_decisions_total")
	if n := strings.Count(text, "\n"); n > 520 {
		t.Errorf("%d series", n)
	}
	if !strings.Contains(text, `outcome="",provider="",reason="other"} 7`) || strings.Contains(text, "ada@") {
		t.Error("a reason that is not a word is recorded")
	}
}

// TestNewTwice: a second New with the same registry returns an error, and the first metrics still work.
func TestNewTwice(t *testing.T) {
	t.Parallel()
	registry := client.NewRegistry()
	if _, err := prometheus.New(registry); err != nil {
		t.Fatal(err)
	}
	if _, err := prometheus.New(registry); err == nil {
		t.Error("no error")
	}
}
