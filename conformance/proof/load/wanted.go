package main

// path is one of the requests that are measured.
type path struct {
	Name string
	// Method and Target are the request; Body is that of a POST.
	Method, Target, Body string
	// Cookie is what the browser sends.
	Cookie string
}

// wanted says how near to the floor a path is to come: the part of the floor's speed, by CPU time of a request.
var wanted = map[string]float64{
	"session": 0.90, "page": 0.95, "session/sqlite": 0.90, "session/postgres": 0.90, "session/redis": 0.90,
	"csrf": 0.90, "providers": 0.90, "start": 0.90, "callback": 0.85, "signin": 1.00,
}

// ofMemory is the part of a bare handler's speed that a session in memory is to have: there is no floor to hold it to.
const ofMemory = 0.55

// server is a process that is measured.
type server struct {
	// Name says which: bare, floor, stdlib, gin, echo or fiber, or a bare router as "bare gin".
	Name string
	// Store is where sessions are kept; empty: in the cookie.
	Store string
	// Bare is the server that answers next to nothing on the same router.
	Bare string
	// Paths are what it is asked.
	Paths []string
}

// everyPath is what servers without a store are asked, in this order.
var everyPath = []string{"session", "page", "csrf", "providers", "start", "callback", "signin"}

// servers are what is measured with the stores that can be reached.
func servers(stores []string) []server {
	list := []server{{"floor", "", "bare", everyPath}, {"stdlib", "", "bare", everyPath}}
	for _, router := range []string{"gin", "echo", "fiber"} {
		list = append(list, server{router, "", "bare " + router, everyPath})
	}
	for _, store := range stores {
		if store != "memory" {
			list = append(list, server{"floor", store, "bare", []string{"session"}})
		}
		list = append(list, server{"stdlib", store, "bare", []string{"session"}})
	}
	return list
}

// turns are the servers that are measured at a time: Latchkey on net/http takes turns with its floor, path by path.
func turns(all []server) (groups [][]server) {
	for i, s := range all {
		if i > 0 && all[i-1].Name == "floor" && all[i-1].Bare == s.Bare && all[i-1].Store == s.Store {
			groups[len(groups)-1] = append(groups[len(groups)-1], s)
			continue
		}
		groups = append(groups, []server{s})
	}
	return groups
}
