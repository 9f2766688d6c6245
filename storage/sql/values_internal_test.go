package sqlstore

import (
	"testing"
	"time"
)

// TestScanText checks that Scan and ScanText give the same text, and that it does not change with the driver's bytes.
func TestScanText(t *testing.T) {
	for name, received := range map[string][]byte{"null": nil, "empty": {}, "a text": []byte("Ada")} {
		t.Run(name, func(t *testing.T) {
			got, want := text{value: "before", null: true}, text{}
			var value any
			if received != nil {
				value = string(received)
			}
			if err := want.Scan(value); err != nil {
				t.Fatal(err)
			}
			got.ScanText(received)
			for i := range received {
				received[i] = 'x'
			}
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
		})
	}
}

// TestScanTime checks that a time that the driver has decoded is in UTC, and that null is the zero time.
func TestScanTime(t *testing.T) {
	c := timeColumn{at: time.Unix(1, 0)}
	c.ScanTime(time.Date(2030, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)))
	if want := time.Date(2030, 1, 2, 2, 4, 5, 6, time.UTC); c.at != want {
		t.Errorf("got %v, want %v", c.at, want)
	}
	if c.ScanTime(time.Time{}); !c.at.IsZero() {
		t.Errorf("got %v for null", c.at)
	}
}
