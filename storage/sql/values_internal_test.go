package sqlstore

import "testing"

// TestScanText: a text by either way is the same, and does not change with the driver's bytes.
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
