package storetest

import "time"

// patience is the maximum time that the tests wait for background work of a database.
const patience = 2 * time.Minute

// lateness starts to measure, with a heartbeat, how long a busy machine delays this process. The returned function
// stops the measurement and returns the sum of the delays.
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
