package safeyaml

import (
	"bytes"
	"testing"

	"go.yaml.in/yaml/v3"
)

// measure returns the depth and the number of nodes, and the number of repeated keys, of parsed text.
func measure(node *yaml.Node) (depth, nodes, repeated int) {
	keys := map[string]bool{}
	for i, child := range node.Content {
		d, n, r := measure(child)
		depth, nodes, repeated = max(depth, d), nodes+n, repeated+r
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			if keys[child.Value] {
				repeated++
			}
			keys[child.Value] = true
		}
	}
	if node.Kind == yaml.MappingNode || node.Kind == yaml.SequenceNode {
		depth++
	}
	return depth, nodes + 1, repeated
}

// FuzzScan holds that the scanner counts at least what go-yaml builds.
func FuzzScan(f *testing.F) {
	for _, text := range []string{
		"a: b\n", "a:\n- b\n- c: d\n  e: [f, g: h, {i, j: k}]\n", "? - a\n  - b\n: c\n", "- - - a\n", "a: |\n  - x: y\n  [[[\nb: >-\n\n   z\n",
		"{a: 1, 'a': 2, \"a\": 3, \"\\x61\": 4, &x a: 5, !!str a: 6}\n", "&x : a\n!!str : b\n", "[a, b]: c\n{d: e}: f\n", "a: b\n  c\nd: 'e\n  f'\n",
		"%YAML 1.1\n---\na\n...\n---\n- b\n", "é: ü\n\u2028- a\u0085", "a: !t,u [b]\n", "a: b#c\n'd'#e\n", "\t- a\n", "- a: - b\n", "x: &y [*z, *y ]\n",
		"a:\r\n  - b\rc: d\n", "- |2\n    a\n   b\n- >1-\n c\n", "? a\n? b\n: - c\n  - d\n", "--- - a\n", "--- |\n a\n--- {a\n: b}\n", "a\n b\n- c\n", "[?,?,: a]", "{? a, ? b : c}",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		text, err := plainText(data)
		if err != nil {
			return
		}
		s := scanner{data: text, most: MaxNodes}
		if s.scan() != nil {
			return
		}
		var depth, nodes, repeated int
		deepest := deepestOf(text)
		for decoder := yaml.NewDecoder(bytes.NewReader(data)); ; {
			var document yaml.Node
			if decoder.Decode(&document) != nil {
				break
			}
			d, n, r := measure(&document)
			depth, nodes, repeated = max(depth, d), nodes+n, repeated+r
		}
		if depth > 2*deepest+1 || nodes > s.nodes || repeated > s.repeated {
			t.Errorf("%q: depth %d, %d nodes and %d repeated keys were counted; there are %d, %d and %d", data, deepest, s.nodes, s.repeated, depth, nodes, repeated)
		}
	})
}

// deepestOf returns the greatest depth that the scanner counts.
func deepestOf(text []byte) int {
	deepest := 0
	s := scanner{data: text, line: 1, keyAllowed: true, most: MaxNodes}
	for s.skipToToken() {
		_ = s.token()
		deepest = max(deepest, len(s.blocks)+len(s.flows))
	}
	return deepest
}
