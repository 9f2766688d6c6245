package exactjson

// fewNames is how many names are compared one by one before a map takes over: most objects have no more, and 16
// comparisons cost less than one map.
const fewNames = 16

// nameSet remembers the names of one object. The zero value is empty and needs no allocation for the first fewNames.
type nameSet struct {
	few  [fewNames]string
	many map[string]struct{}
	n    int
}

// add returns the reason why the object may not have name, "" when it may.
func (s *nameSet) add(name string) (reason string) {
	if s.n == MaxMembers {
		return reasonMembers
	}
	if s.n < fewNames {
		for _, other := range s.few[:s.n] {
			if other == name {
				return reasonDuplicate
			}
		}
		s.few[s.n] = name
		s.n++
		return ""
	}
	if s.many == nil {
		s.many = make(map[string]struct{}, 4*fewNames)
		for _, other := range s.few {
			s.many[other] = struct{}{}
		}
	}
	if _, ok := s.many[name]; ok {
		return reasonDuplicate
	}
	s.many[name] = struct{}{}
	s.n++
	return ""
}
