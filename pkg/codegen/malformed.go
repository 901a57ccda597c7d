package codegen

import (
	"fmt"
	"go/token"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/markers"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// Markers in comments that generators don't take for markers, from their name.
var (
	// withSpace and withoutPlus match the beginning of a line comment.
	withSpace   = lazyregexp.New(`^//\s*\+\s+(kubebuilder:.*)`)
	withoutPlus = lazyregexp.New(`^//\s*(kubebuilder:.*)`)
	// afterText matches a marker after a sentence, and inBlock a line of a block comment.
	afterText = lazyregexp.New(`^//.*[\pL\pN.!?)]\s*//\s*\+(kubebuilder:.*)`)
	inBlock   = lazyregexp.New(`^[\s*]*\+(kubebuilder:.*)`)
)

// malformedMarkers returns the markers that generators don't recognize as such because of what is around them.
func (s *syntax) malformedMarkers(known *markers.Registry) diag.Findings {
	var findings diag.Findings
	find := func(pattern *lazyregexp.Regexp, text string, at token.Pos, problem, fix string) {
		match := pattern.FindStringSubmatchIndex(text)
		if match == nil {
			return
		}
		for _, target := range markerTargets() {
			definition := known.Lookup("+"+strings.TrimSpace(text[match[2]:]), target)
			if definition == nil || isReadByOtherTools(definition.Name) {
				continue
			}
			findings = append(findings, s.ruled("malformed-marker", at+token.Pos(match[2]),
				fmt.Sprintf("marker +%s has no effect %s; %s", definition.Name, problem, fix)))
			return
		}
	}
	for _, pkg := range s.packages {
		for _, tree := range pkg.trees {
			for _, group := range tree.Comments {
				for _, comment := range group.List {
					find(withSpace, comment.Text, comment.Pos(), "with a space after the plus sign", "remove the space")
					find(withoutPlus, comment.Text, comment.Pos(), "without a plus sign", "write + before it")
					find(afterText, comment.Text, comment.Pos(), "behind other text", "write it in a line of its own")
					if !strings.HasPrefix(comment.Text, "/*") {
						continue
					}
					at := comment.Pos()
					for line := range strings.Lines(comment.Text) {
						find(inBlock, strings.TrimPrefix(line, "/*"), at+token.Pos(len(line)-len(strings.TrimPrefix(line, "/*"))),
							"in a block comment", "write it in a line comment, after //")
						at += token.Pos(len(line))
					}
				}
			}
		}
	}
	return findings
}
