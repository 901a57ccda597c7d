package migrate

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// Names are the parts of scaffolded texts that differ between projects. Facts are compared without them.
type Names struct {
	Project, Domain, Repo string
	Resources             []Resource
}

// Resource holds the names of one resource.
type Resource struct{ Group, Version, Kind, Plural string }

type pair struct{ name, token string }

// pairs returns the repository, the domain, the project, the image of the end-to-end tests, which may start with the
// repository, and the prefix of the leader election ID.
func (n Names) pairs() []pair {
	return []pair{
		{n.Repo, "\x01r"}, {n.Domain, "\x01d"}, {n.Project, "\x01p"}, {"example.com/" + n.Project + ":v", "\x01i"},
		{electionID(n.Repo), "\x01l"},
	}
}

// electionID returns the leader election ID, without its domain, as kubebuilder derives it.
func electionID(repo string) string {
	h := fnv.New32a()
	h.Write([]byte(repo)) // never fails
	return fmt.Sprintf("%08x", h.Sum32())
}

// kindPairs returns the names of a resource without its version, which is often part of other text, such as the v1 of
// rbac.authorization.k8s.io/v1.
func (r Resource) kindPairs() []pair {
	pairs := []pair{{r.Group, "\x01g"}, {r.Kind, "\x01K"}, {strings.ToLower(r.Kind), "\x01k"}, {r.Plural, "\x01s"}}
	if packageName := strings.NewReplacer("-", "", ".", "").Replace(r.Group); packageName != r.Group {
		pairs = append(pairs, pair{packageName, "\x01g"})
	}
	return pairs
}

func (r Resource) versionPair() pair { return pair{r.Version, "\x01v"} }
