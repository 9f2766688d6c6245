package prometheus_test

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/latchkey-go/latchkey/conformance/kit/observetest"
	"github.com/latchkey-go/latchkey/storage/memory"
)

var (
	metricName = regexp.MustCompile(`latchkey_[a-z_]+`)
	matcher    = regexp.MustCompile(`([a-z_]+)(?:=~|!=|=)"[^"]*"`)
	grouping   = regexp.MustCompile(`by \(([a-z_, ]+)\)`)
	shown      = regexp.MustCompile(`\{\{([a-z_]+)\}\}`)
)

// labelled returns the names of the metrics in a scrape with their labels.
func labelled(scrape string) map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for line := range strings.Lines(scrape) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, rest, found := strings.Cut(line, "{")
		if !found {
			name, _, _ = strings.Cut(line, " ")
		}
		if all[name] == nil {
			all[name] = map[string]bool{}
		}
		for _, m := range matcher.FindAllStringSubmatch(rest, -1) {
			all[name][m[1]] = true
		}
	}
	return all
}

// holds checks that the metrics and labels of an expression exist.
func holds(t *testing.T, expression string, there map[string]map[string]bool) {
	t.Helper()
	name := metricName.FindString(expression)
	labels := there[name]
	if labels == nil {
		t.Errorf("there is no metric %q: %s", name, expression)
	}
	for _, m := range matcher.FindAllStringSubmatch(expression, -1) {
		if !labels[m[1]] {
			t.Errorf("%s has no label %q: %s", name, m[1], expression)
		}
	}
	for _, m := range grouping.FindAllStringSubmatch(expression, -1) {
		for label := range strings.SplitSeq(m[1], ", ") {
			if !labels[label] {
				t.Errorf("%s has no label %q: %s", name, label, expression)
			}
		}
	}
}

// TestDashboardAndAlarms: all metrics in the dashboard and in the alerts exist in an application.
func TestDashboardAndAlarms(t *testing.T) {
	t.Parallel()
	metrics, scrape := measured(t)
	observetest.Drive(t.Context(), t, memory.New(), metrics.Wrap)
	loaded(t, metrics)
	there := labelled(scrape())

	var dashboard struct {
		Panels []struct {
			Title   string
			Targets []struct{ Expr, LegendFormat string }
		}
	}
	if err := json.Unmarshal([]byte(file(t, "../../docs/observe/dashboard.json")), &dashboard); err != nil {
		t.Fatal(err)
	}
	if len(dashboard.Panels) < 12 {
		t.Errorf("%d panels", len(dashboard.Panels))
	}
	for _, panel := range dashboard.Panels {
		for _, target := range panel.Targets {
			holds(t, target.Expr, there)
			for _, m := range shown.FindAllStringSubmatch(target.LegendFormat, -1) {
				if !regexp.MustCompile(`by \([a-z_, ]*\b` + m[1] + `\b`).MatchString(target.Expr) {
					t.Errorf("%s: the legend names %q, which is not in the grouping", panel.Title, m[1])
				}
			}
		}
	}

	alarms := 0
	for line := range strings.Lines(file(t, "../../docs/observe/alerts.yaml")) {
		if _, expression, found := strings.Cut(line, "expr: "); found {
			alarms++
			holds(t, strings.Trim(expression, "'\n"), there)
		}
	}
	if alarms < 9 {
		t.Errorf("%d alarms", alarms)
	}
	for name := range there {
		base := regexp.MustCompile(`_(bucket|sum|count)$`).ReplaceAllString(name, "")
		if !strings.Contains(file(t, "README.md"), "| `"+base+"` |") {
			t.Errorf("README.md has no row for %s", base)
		}
	}
}

func file(t *testing.T, name string) string {
	t.Helper()
	raw, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
