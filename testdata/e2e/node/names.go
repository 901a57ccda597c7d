package node

import (
	"regexp"
	"strings"
)

// What belongs to a node is called so that the end of its folder's name tells all other names.
const (
	dirPrefix  = "node-"
	namePrefix = "operon-e2e-"
	linkPrefix = "operon"
	lockSuffix = ".lock"
)

// Belongs tells whether a line names something that belongs to a node.
func Belongs(line string) bool {
	return regexp.MustCompile(`(` + dirPrefix + `|` + namePrefix + `|` + linkPrefix + `)[0-9a-f]{8}\b`).MatchString(line)
}

// BelongsTo tells whether a line names something that belongs to the node called name.
func BelongsTo(line, name string) bool {
	id, ok := strings.CutPrefix(name, namePrefix)
	return ok && strings.Contains(line, id)
}
