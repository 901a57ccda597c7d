package worktree

import "path"

// prune removes the directories that the deletions of a journal have left empty. It runs after the commit and, where that was
// interrupted, in the next command: a directory that it cannot remove does no harm, as neither go nor git sees it.
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
