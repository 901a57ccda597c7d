package ansiblerole

import (
	"path"
	"slices"
	"strings"
)

// findRoles returns the directories of roles: everything in a directory roles that has tasks, variables or metadata.
func findRoles(paths []string) []string {
	var dirs []string
	for _, name := range paths {
		part := path.Base(path.Dir(name))
		if !slices.Contains([]string{"tasks", "meta", "defaults", "vars", "handlers", "templates"}, part) {
			continue
		}
		dir := path.Dir(path.Dir(name))
		if (strings.HasPrefix(dir, "roles/") || strings.Contains(dir, "/roles/")) && !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	slices.Sort(dirs)
	return dirs
}

// resolveRole returns the directories of the roles that a name can be: a name, NAMESPACE.COLLECTION.ROLE or a path.
func (r *reader) resolveRole(name string, s *scope) []string {
	var candidates []string
	if path.IsAbs(name) {
		p, ok := projectPath(name)
		if !ok {
			return nil
		}
		candidates = append(candidates, p)
	} else {
		if parts := strings.Split(name, "."); len(parts) == 3 && known(name) {
			candidates = append(candidates, "collections/ansible_collections/"+parts[0]+"/"+parts[1]+"/roles/"+parts[2])
		}
		if s.role != "" {
			if p, ok := projectPath(path.Dir(s.role)); ok {
				candidates = append(candidates, path.Join(p, name))
			}
		}
		if s.playbook != "" {
			if p, ok := projectPath(s.playbook + "/roles"); ok {
				candidates = append(candidates, path.Join(p, name))
			}
		}
		candidates = append(candidates, path.Join("roles", name), path.Clean(name))
	}
	for _, wanted := range candidates {
		var found []string
		for _, dir := range r.roleDirs {
			if matches(wanted, dir) {
				found = append(found, dir)
			}
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// main returns the path of a file of a role.
func (r *reader) main(dir, subdir, name string) string {
	if files := r.roleFiles(dir, subdir, name); len(files) > 0 {
		return files[0]
	}
	return ""
}

// roleFiles returns the files of a role with a name, with or without the extension, that can have unknown parts.
func (r *reader) roleFiles(dir, subdir, name string) []string {
	var found []string
	for _, extension := range []string{"", ".yml", ".yaml", ".json"} {
		for _, file := range r.match(home + "/" + dir + "/" + subdir + "/" + name + extension) {
			if !slices.Contains(found, file) && isYAML(file) {
				found = append(found, file)
			}
		}
	}
	return found
}

func isYAML(name string) bool {
	return slices.Contains([]string{".yml", ".yaml", ".json"}, path.Ext(name))
}
