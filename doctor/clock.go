package doctor

import (
	"fmt"
	"net/http"
	"time"
)

// reading is a server's clock, and this machine's clock when the response arrived.
type reading struct {
	host          string
	local, remote time.Time
}

// clocks are the readings of all servers that responded.
type clocks struct {
	now  func() time.Time
	read []reading
}

// note stores the Date header of a response. Servers write it in whole seconds (RFC 9110 section 6.6.1).
func (c *clocks) note(answer *http.Response) {
	at, err := http.ParseTime(answer.Header.Get("Date"))
	if err == nil && answer.Request != nil {
		c.read = append(c.read, reading{answer.Request.URL.Host, c.now(), at})
	}
}

// apart is the maximum difference of two clocks. ID tokens and one-time codes tolerate little more.
const apart = 30 * time.Second

// compare compares the clock of this machine with those of up to three servers.
func (c *clocks) compare(report *Report) {
	hosts := map[string]time.Duration{}
	for _, r := range c.read {
		if _, known := hosts[r.host]; !known && len(hosts) < 3 {
			hosts[r.host] = r.local.Sub(r.remote)
		}
	}
	if len(hosts) == 0 {
		return
	}
	off, far := 0, time.Duration(0)
	for _, by := range hosts {
		if by.Abs() > apart {
			off++
		}
		if by.Abs() > far.Abs() {
			far = by
		}
	}
	switch {
	case off == 0:
		report.ok("clock", "within %v of %s", apart, many(len(hosts), "server"))
	case off == len(hosts):
		report.add("clock", Wrong, fmt.Sprintf("this machine is %s of %s: tokens look expired or not yet valid",
			ahead(far), many(len(hosts), "server")), "set the clock by NTP")
	default:
		report.add("clock", Unknown, fmt.Sprintf("this machine is %s of one of %s, and agrees with others", ahead(far),
			many(len(hosts), "server")), "the clock of one of these servers is wrong")
	}
}

func ahead(by time.Duration) string {
	by = by.Round(time.Second)
	if by < 0 {
		return (-by).String() + " behind"
	}
	return by.String() + " ahead"
}
