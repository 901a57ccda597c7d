package help

import (
	"maps"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// groupAnnotation is the annotation of a flag with the title of its group.
const groupAnnotation = "operon_group"

// SetGroup puts a flag into the group with a title. A flag without a group is in the first one, "Flags".
func SetGroup(f *pflag.Flag, title string) { annotate(f, groupAnnotation, title) }

// A FlagGroup are flags of a command under a title.
type FlagGroup struct {
	Title string
	Flags *pflag.FlagSet
}

// FlagGroups returns the flags of a command, without persistent ones, in their groups, in the order of their titles. Groups of hidden flags
// are left out.
func FlagGroups(c *cobra.Command) (groups []FlagGroup) {
	const first = "Flags"
	flags := map[string]*pflag.FlagSet{}
	c.LocalNonPersistentFlags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		title := first
		if titles := f.Annotations[groupAnnotation]; len(titles) > 0 {
			title = titles[0]
		}
		if flags[title] == nil {
			flags[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
		}
		flags[title].AddFlag(f)
	})
	for _, title := range slices.Sorted(maps.Keys(flags)) { // "Flags" is the shortest
		groups = append(groups, FlagGroup{Title: title, Flags: flags[title]})
	}
	return groups
}
