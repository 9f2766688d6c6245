package main

import (
	"os"
	"testing"
	"time"
)

func TestReadWaits(t *testing.T) {
	const text = "  Latency Distribution\n     50%  850.00us\n     75%    1.00ms\n     99%    1.20s \n  9 requests in 1s\n"
	half, late, err := readWaits([]byte(text))
	if err != nil || half != 850*time.Microsecond || late != 1200*time.Millisecond {
		t.Errorf("%v, %v, %v", half, late, err)
	}
	for _, bad := range []string{"", "     50%  850.00us\n", "     50%  many\n     99%    1.20s\n"} {
		if _, _, err := readWaits([]byte(bad)); err == nil {
			t.Errorf("%q was taken for waits", bad)
		}
	}
}

func TestMostMemory(t *testing.T) {
	if got, err := mostMemory(os.Getpid()); err != nil || got < 1 {
		t.Errorf("this process takes %v MB, %v", got, err)
	}
	if _, err := mostMemory(-1); err == nil {
		t.Error("a process that is none has memory")
	}
}
