package once

// What only tests ask.

// Len returns how many entries are held, with those whose time is over and that nothing has swept out yet.
func (m *Memory[K, V]) Len() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.order.Len()
}
