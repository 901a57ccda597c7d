package safeyaml

import (
	"slices"
)

// A frame is an open collection.
type frame struct {
	column  int  // of a block collection
	mapping bool // of a flow collection
	// counted is true if the key of the current pair of a flow mapping has been counted.
	counted bool
	keys    []uint64
	set     map[uint64]struct{}
}

// Hashes of keys that are not compared but count as repeated. The function hash does not return them.
const (
	emptyKey = iota
	complexKey
	escapedKey
	otherKeys
)

// push adds a collection, which reuses the memory of a closed one.
func push(frames []frame, f frame) []frame {
	if len(frames) < cap(frames) {
		f.keys = frames[:len(frames)+1][len(frames)].keys[:0]
	}
	return append(frames, f)
}

// pushFlow opens a flow collection.
func (s *scanner) pushFlow(c byte) error {
	s.flows = push(s.flows, frame{mapping: c == '{'})
	s.keyAllowed, s.last = true, emptyKey
	return s.checkDepth()
}

// roll opens a block collection at a column, unless one is open at that column.
func (s *scanner) roll(column int) error {
	if len(s.blocks) > 0 && s.blocks[len(s.blocks)-1].column >= column {
		return nil
	}
	s.blocks = push(s.blocks, frame{column: column})
	return s.checkDepth()
}

// unroll closes the block collections that are indented further than a column.
func (s *scanner) unroll(column int) {
	if len(s.flows) > 0 {
		return
	}
	for len(s.blocks) > 0 && s.blocks[len(s.blocks)-1].column > column {
		s.blocks = s.blocks[:len(s.blocks)-1]
	}
}

// blockKey counts a key of the block mapping at a column.
func (s *scanner) blockKey(column int, key uint64) error {
	if err := s.roll(column); err != nil {
		return err
	}
	return s.addKey(&s.blocks[len(s.blocks)-1], key)
}

// flowKey counts the last scalar as a key of a flow mapping.
func (s *scanner) flowKey() error {
	top := &s.flows[len(s.flows)-1]
	if !top.mapping || top.counted {
		return nil
	}
	top.counted = true
	return s.addKey(top, s.last)
}

// endPair ends a pair of a flow mapping, which may have no value.
func (s *scanner) endPair() {
	if top := &s.flows[len(s.flows)-1]; top.mapping {
		_ = s.flowKey() // the next key returns the error
		top.counted = false
	}
}

// addKey counts a key of a mapping, and whether it is repeated.
func (s *scanner) addKey(f *frame, key uint64) error {
	const few = 16 // keys, which are found faster in a list
	if len(f.keys) >= MaxKeys {
		return s.fail("is a mapping of more than %d keys", MaxKeys)
	}
	var found bool
	if f.set != nil {
		_, found = f.set[key]
		f.set[key] = struct{}{}
	} else {
		found = slices.Contains(f.keys, key)
	}
	if found || key < otherKeys {
		s.repeated++
	}
	f.keys = append(f.keys, key)
	if f.set == nil && len(f.keys) > few {
		f.set = make(map[uint64]struct{}, 4*few)
		for _, k := range f.keys {
			f.set[k] = struct{}{}
		}
	}
	return nil
}

// hash returns the FNV-1a hash of a key.
func hash(key []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range key {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return max(h, otherKeys)
}
