package upgrade

import (
	"path"
	"strings"

	"go.yaml.in/yaml/v3"
)

// documents carries values, keys and items of YAML documents to where they are today.
func (c *carrier) documents() {
	mine, err := parseDocuments(c.m.rawMine)
	if err != nil {
		return // the merge of lines makes of it what it can
	}
	theirs, err := parseDocuments(c.m.rawTheirs)
	if err != nil {
		return
	}
	for key, doc := range mine {
		if other := theirs[key]; other != nil {
			c.node(doc, other)
		}
	}
}

// parseDocuments reads documents, by kind and name.
func parseDocuments(raw []string) (map[string]*yaml.Node, error) {
	docs := map[string]*yaml.Node{}
	decoder := yaml.NewDecoder(strings.NewReader(strings.Join(raw, "")))
	for {
		var doc yaml.Node
		if err := decoder.Decode(&doc); err != nil {
			if len(docs) == 0 {
				return nil, err
			}
			return docs, nil
		}
		if len(doc.Content) == 1 && doc.Content[0].Kind == yaml.MappingNode {
			root := doc.Content[0]
			docs[valueOf(root, "kind")] = root
		}
	}
}

// valueOf is the text of a mapping's key, empty if there is none.
func valueOf(mapping *yaml.Node, key string) string {
	if at := keyIn(mapping, key); at >= 0 && mapping.Content[at+1].Kind == yaml.ScalarNode {
		return mapping.Content[at+1].Value
	}
	return ""
}

func keyIn(mapping *yaml.Node, key string) int {
	if mapping.Kind == yaml.MappingNode {
		for i := 0; i+1 < len(mapping.Content); i += 2 {
			if mapping.Content[i].Value == key {
				return i
			}
		}
	}
	return -1
}

func (c *carrier) node(mine, theirs *yaml.Node) {
	if mine.Kind != theirs.Kind || mine.Style&yaml.FlowStyle != 0 || theirs.Style&yaml.FlowStyle != 0 {
		return
	}
	switch mine.Kind {
	case yaml.MappingNode:
		c.mapping(mine, theirs)
	case yaml.SequenceNode:
		c.sequence(mine, theirs, false)
	case yaml.ScalarNode:
		c.scalar(mine, theirs)
	}
}

// scalar carries a value that a person has set.
func (c *carrier) scalar(mine, theirs *yaml.Node) {
	const block = yaml.LiteralStyle | yaml.FoldedStyle
	if mine.Value == theirs.Value || !c.own(mine.Line-1) || (mine.Style|theirs.Style)&block != 0 {
		return
	}
	a, b := c.m.mine[mine.Line-1].text, c.m.theirs[theirs.Line-1].text
	before := b[:theirs.Column-1]
	if strings.TrimSpace(before) != strings.TrimSpace(a[:mine.Column-1]) {
		return
	}
	c.replace(theirs.Line-1, mine.Line-1, before+a[mine.Column-1:])
}

func (c *carrier) mapping(mine, theirs *yaml.Node) {
	after := -1 // the entry of theirs that the last one of mine is
	for i := 0; i+1 < len(mine.Content); i += 2 {
		key, value := mine.Content[i], mine.Content[i+1]
		name, listed := c.today(key.Value)
		at := keyIn(theirs, name)
		if at < 0 {
			if after >= 0 && c.own(key.Line-1) && !listed {
				c.insert(endLine(theirs.Content[after+1]), key.Line-1, lastLine(value), theirs.Column-mine.Column)
			}
			continue
		}
		after = at
		other := theirs.Content[at+1]
		if c.own(key.Line-1) && value.Kind != yaml.ScalarNode {
			c.m.carried[key.Line-1] = true
		}
		switch {
		case value.Kind == yaml.SequenceNode && other.Kind == yaml.SequenceNode && len(other.Content) == 0 && value.Style&yaml.FlowStyle == 0:
			c.fill(theirs.Content[at], key, value)
		case listed && value.Kind == yaml.SequenceNode && other.Kind == yaml.SequenceNode:
			c.sequence(value, other, true)
		default:
			c.node(value, other)
		}
	}
}

// today is the name that a key of a kustomization has today; listed tells that its items are paths, which are
// mappings today.
func (c *carrier) today(key string) (name string, listed bool) {
	if path.Base(c.m.name) == "kustomization.yaml" {
		switch key {
		case "bases":
			return "resources", false
		case "patchesStrategicMerge":
			return "patches", true
		}
	}
	return key, false
}

// fill gives items to a list that is empty today.
func (c *carrier) fill(theirs, key, items *yaml.Node) {
	text := c.m.theirs[theirs.Line-1].text
	if !strings.HasSuffix(text, ": []") {
		return
	}
	any := false
	for _, item := range items.Content {
		if c.own(item.Line - 1) {
			c.insert(theirs.Line, item.Line-1, lastLine(item), theirs.Column-key.Column)
			any = true
		}
	}
	if any {
		c.replace(theirs.Line-1, key.Line-1, strings.TrimSuffix(text, " []"))
	}
}

func (c *carrier) sequence(mine, theirs *yaml.Node, paths bool) {
	if len(theirs.Content) == 0 {
		return
	}
	to := endLine(theirs.Content[len(theirs.Content)-1])
	for _, item := range mine.Content {
		id := identity(item)
		if id == "" {
			continue
		}
		var same *yaml.Node
		for _, other := range theirs.Content {
			if identity(other) == id {
				same = other
			}
		}
		switch {
		case same != nil:
			to = endLine(same)
			c.node(item, same)
		case !c.own(item.Line - 1):
		case paths && item.Kind == yaml.ScalarNode:
			c.inserted[to] = append(c.inserted[to], strings.Repeat(" ", theirs.Column-1)+"- path: "+item.Value)
			c.m.carried[item.Line-1] = true
		default:
			c.insert(to, item.Line-1, lastLine(item), theirs.Column-mine.Column)
		}
	}
}

// identity tells items of a list apart: flags by their names, objects by theirs. It is empty for what has none.
func identity(item *yaml.Node) string {
	switch item.Kind {
	case yaml.ScalarNode:
		if flag, _, ok := strings.Cut(item.Value, "="); ok && strings.HasPrefix(flag, "--") {
			return flag
		}
		return item.Value
	case yaml.MappingNode:
		if name := valueOf(item, "name"); name != "" {
			return name
		}
		return valueOf(item, "path")
	}
	return ""
}

// insert puts lines of mine, from the first to the last, before a line of theirs, further to the right by shift.
func (c *carrier) insert(before, first, last, shift int) {
	for i := first; i <= last; i++ {
		text := c.m.mine[i].text
		if shift > 0 && text != "" {
			text = strings.Repeat(" ", shift) + text
		}
		for range -shift {
			text = strings.TrimPrefix(text, " ")
		}
		c.inserted[before] = append(c.inserted[before], text)
		c.m.carried[i] = true
	}
}

// lastLine is the last line of a node, counted from 0.
func lastLine(n *yaml.Node) int { return endLine(n) - 1 }

// endLine is the line after the last one of a node, counted from 0.
func endLine(n *yaml.Node) int {
	to := n.Line
	if n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 {
		to += strings.Count(strings.TrimSuffix(n.Value, "\n"), "\n") + 1
	}
	for _, child := range n.Content {
		to = max(to, endLine(child))
	}
	return to
}
