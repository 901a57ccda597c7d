// Package layouts lists the layouts of Operon with the packages that implement their kinds. To add a layout, list it in All and in
// layout.All.
package layouts

import (
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/action/ansiblekinds"
	"github.com/operon-sdk/operon/pkg/action/gokinds"
	"github.com/operon-sdk/operon/pkg/action/helmkinds"
	"github.com/operon-sdk/operon/pkg/layout"
)

// All returns the layouts in the order of layout.All, for Config.Layouts.
func All() []action.Layout {
	return []action.Layout{
		{Facts: layout.Go(), Kinds: gokinds.Kinds{}},
		{Facts: layout.Helm(), Kinds: helmkinds.Kinds{}},
		{Facts: layout.Ansible(), Kinds: ansiblekinds.Kinds{}},
	}
}
