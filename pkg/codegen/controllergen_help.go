package codegen

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/genall/help"
	"sigs.k8s.io/controller-tools/pkg/genall/help/pretty"
	"sigs.k8s.io/controller-tools/pkg/markers"
)

// usageAt prints the usage at a level of detail: JSON on stdout, text on stderr, as controller-gen does.
func (c *controllerGen) usageAt(level int) error {
	if level >= jsonLevel {
		return c.describe(c.stderr, level, c.options, help.SortByOption)
	}
	return c.usage(c.stderr, level)
}

func (c *controllerGen) usage(to io.Writer, level int) error {
	_, _ = fmt.Fprintf(to, `Generate deepcopy methods, CRDs, roles, webhook configurations and apply configurations from Go types and markers.

Usage:
  controller-gen [flags] GENERATOR[:OPTION=VALUE,...]... paths=PATTERN[;PATTERN...] [output:[GENERATOR:]RULE[:OPTION=VALUE,...]]...

Examples:
  # deepcopy methods of all packages
  controller-gen object:headerFile=hack/boilerplate.go.txt paths=./...

  # roles, CRDs and webhook configurations
  controller-gen rbac:roleName=manager-role crd webhook paths=./... output:crd:artifacts:config=config/crd/bases

  # markers of types and fields
  controller-gen crd -ww

Flags:
%s

Options

`, strings.TrimRight(c.set.FlagUsages(), "\n"))
	return c.describe(to, level, c.options, help.SortByOption)
}

// Levels of detail of printed help.
const (
	summaryLevel = iota + 1
	detailLevel
	fullLevel
	jsonLevel
)

// describe prints the markers of a registry: JSON to stdout, text to text.
func (c *controllerGen) describe(text io.Writer, level int, registry *markers.Registry, by help.SortGroup) error {
	categories := help.ByCategory(registry, by)
	if level >= jsonLevel {
		if level > jsonLevel {
			return nil
		}
		return json.NewEncoder(c.stdout).Encode(categories)
	}
	for _, category := range categories {
		if category.Category == "" {
			continue
		}
		content := pretty.MarkersSummary(category.Category, category.Markers)
		if level >= detailLevel {
			content = pretty.MarkersDetails(level == fullLevel, category.Category, category.Markers)
		}
		if err := content.Write(text); err != nil {
			return err
		}
	}
	return nil
}
