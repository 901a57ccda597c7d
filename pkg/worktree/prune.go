package worktree

import "path"

// prune removes directories that the deletions of a journal have left empty. It runs after the commit or, after an
// interruption, in the next command. A directory that cannot be removed is ignored.
func (d disk) prune(j *journal) {
	for _, op := range j.Operations {
		if op.New != "" {
			continue
		}
		for dir := path.Dir(op.Path); dir != "."; dir = path.Dir(dir) {
			if d.removeEmpty(dir) != nil {
				break
			}
		}
	}
}
