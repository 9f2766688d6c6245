package storetest

import "time"

// patience is how long the kit waits for what an engine does in its own time.
const patience = 2 * time.Minute

// lateness begins to measure how much a busy machine takes from this process: a heartbeat notices. What it returns ends
// that, and says how much it was.
func lateness() func() time.Duration {
	const beat = 20 * time.Millisecond
	stop, result := make(chan struct{}), make(chan time.Duration)
	go func() {
		var late time.Duration
		for {
			began := time.Now()
			select {
			case <-stop:
				result <- late
				return
			case <-time.After(beat):
				late += max(time.Since(began)-beat, 0)
			}
		}
	}()
	return func() time.Duration { close(stop); return <-result }
}
