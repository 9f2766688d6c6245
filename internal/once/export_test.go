package once

// Methods for tests.

// Len returns the number of entries, including expired ones that were not removed yet.
func (m *Memory[K, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.order.Len()
}
