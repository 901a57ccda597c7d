package merge

import "strings"

// finishYAML corrects the form of a merged YAML file with units of different texts: the dashes of list items, formerly
// empty lists, and patches of a kustomization that older ones list by file name only.
func finishYAML(n *Node, kustomization bool) {
	if n.Item {
		for i, child := range n.Nodes {
			setDash(child, i == 0)
		}
	}
	on := false
	for _, child := range n.Nodes {
		finishYAML(child, kustomization)
		on = on || !child.Off && !strings.HasPrefix(child.Key, "marker ")
	}
	if len(n.Head) != 1 {
		return
	}
	head := strings.TrimSpace(n.Head[0])
	if n.Container && on {
		if empty, ok := strings.CutSuffix(head, " []"); ok {
			n.Head = []string{strings.Repeat(" ", n.Indent) + empty + "\n"}
		}
	}
	if kustomization && head == "patches:" {
		for _, child := range n.Nodes {
			namePath(child)
		}
	}
}

// namePath rewrites "- FILE", as in patchesStrategicMerge, to "- path: FILE".
func namePath(item *Node) {
	if item.Container || len(item.Head) != 1 {
		return
	}
	before, file, ok := strings.Cut(item.Head[0], "- ")
	if ok && !strings.Contains(file, ": ") && strings.Trim(before, " #") == "" {
		item.Head = []string{before + "- path: " + file}
	}
}

// setDash adds the dash of a list item to the first line of a field, or removes it.
func setDash(n *Node, dash bool) {
	for len(n.Head) == 0 {
		if len(n.Nodes) == 0 {
			return
		}
		n = n.Nodes[0]
	}
	line := n.Head[0]
	at := len(line) - len(strings.TrimLeft(line, " "))
	has := strings.HasPrefix(line[at:], "- ")
	switch {
	case has && !dash:
		line = line[:at] + " " + line[at+1:]
	case !has && dash && at >= 2:
		line = line[:at-2] + "- " + line[at:]
	default:
		return
	}
	n.Head = append([]string{line}, n.Head[1:]...)
}

// isFieldChoice reports whether a field or item of ours can be kept independently of theirs: one that is not merged by
// fields.
func isFieldChoice(ours, theirs *Node) bool { return !ours.Container || !theirs.Container }
