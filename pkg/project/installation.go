package project

// An Installation is what the kustomization of a project's operator gives all objects.
type Installation struct {
	// Prefix is the prefix of names, with its hyphen, and Namespace the namespace. Both can be empty.
	Prefix, Namespace string
}

// FollowInstallation makes what is scaffolded refer to objects by the names that a project's kustomization gives them.
func (c *Config) FollowInstallation(i Installation) { c.installation = &i }

// Installation returns what FollowInstallation has set, or nil.
func (c *Config) Installation() *Installation { return c.installation }
