package main

// path is a measured request.
type path struct {
	Name string
	// Method and Target are the request. Body is the body of a POST.
	Method, Target, Body string
	// Cookie is the Cookie header.
	Cookie string
}

// wanted is the required speed of each path relative to the baseline, by CPU time of a request.
var wanted = map[string]float64{
	"session": 0.90, "page": 0.95, "session/sqlite": 0.90, "session/postgres": 0.90, "session/redis": 0.90,
	"csrf": 0.90, "providers": 0.90, "start": 0.90, "callback": 0.85, "signin": 1.00,
}

// ofMemory is the required speed of a session in memory relative to a plain handler. There is no baseline for it.
const ofMemory = 0.55

// server is a measured process.
type server struct {
	// Name is bare, floor, jose (the baseline with go-jose), stdlib, gin, echo or fiber, or a plain handler on a router
	// such as "bare gin".
	Name string
	// Store is the session store. If it is empty, sessions are in the cookie.
	Store string
	// Bare is the plain handler on the same router.
	Bare string
	// Paths are the measured paths.
	Paths []string
}

// everyPath are the paths of servers without a store, in this order.
var everyPath = []string{"session", "page", "csrf", "providers", "start", "callback", "signin"}

// servers returns the measured servers for the reachable stores.
func servers(stores []string) []server {
	list := []server{{"floor", "", "bare", everyPath}, {"stdlib", "", "bare", everyPath},
		{"jose", "", "bare", []string{"session", "page", "start", "callback"}}}
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

// turns groups the servers. Latchkey on net/http takes turns with its baseline for each path.
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
