package doctor

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/latchkey-go/latchkey/core"
)

// TestTimeoutByDefault: the default timeout of an examination is 10 seconds.
func TestTimeoutByDefault(t *testing.T) {
	for given, want := range map[time.Duration]time.Duration{0: 10 * time.Second, time.Second: time.Second} {
		synctest.Test(t, func(t *testing.T) {
			e := newExam(t.Context(), core.Config{}, Options{Timeout: given})
			ctx, cancel := e.limited()
			defer cancel()
			begin := time.Now()
			<-ctx.Done()
			if took := time.Since(begin); took != want {
				t.Errorf("with %v an examination ends after %v", given, took)
			}
		})
	}
}
