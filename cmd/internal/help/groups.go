package help

import (
	"cmp"
	"slices"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// groupAnnotation is the annotation of a flag with the title of its group.
const groupAnnotation = "operon_group"

// SetGroup puts a flag into the group with a title. A flag without a group is in the first one, "Flags"; the others are in the order of
// rank, a string.
func SetGroup(f *pflag.Flag, title, rank string) { annotate(f, groupAnnotation, title, rank) }

// A FlagGroup are flags of a command under a title.
type FlagGroup struct {
	Title string
	Flags *pflag.FlagSet

	rank string
}

// FlagGroups returns the flags of a command, without persistent ones, in their groups. Groups of hidden flags are left out.
func FlagGroups(c *cobra.Command) (groups []FlagGroup) {
	local := c.LocalNonPersistentFlags()
	local.SortFlags = c.Flags().SortFlags
	local.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		title, rank := "Flags", ""
		if group := f.Annotations[groupAnnotation]; len(group) > 0 {
			title, rank = group[0], group[1]
		}
		i := slices.IndexFunc(groups, func(g FlagGroup) bool { return g.Title == title })
		if i < 0 {
			i = len(groups)
			groups = append(groups, FlagGroup{Title: title, Flags: pflag.NewFlagSet(title, pflag.ContinueOnError), rank: rank})
			groups[i].Flags.SortFlags = local.SortFlags
		}
		groups[i].Flags.AddFlag(f)
	})
	slices.SortStableFunc(groups, func(one, other FlagGroup) int { return cmp.Compare(one.rank, other.rank) })
	return groups
}
