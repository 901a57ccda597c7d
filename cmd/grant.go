package cmd

import (
	"errors"
	"fmt"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/stage"
)

// roleOf names the file with the permissions of a manager that isn't compiled from the project, or returns "": markers in code grant them.
func roleOf(program local.Program) string {
	if program.Name == "" {
		return ""
	}
	return project.RoleFile
}

// grant returns how to grant a permission to a manager with a role; see roleOf.
func grant(role string, d stage.Denial) string {
	if role == "" {
		return "add the marker to the controller: " + d.Marker()
	}
	return "add the rule to " + role + ": " + d.Rule()
}

// grants returns the permissions of the manager, of which those in an audit log are used. They are nil if the manager is an administrator.
func (a *app) grants(p *stage.Permissions, o *testBehaviorOptions) (*stage.Grants, error) {
	audit := o.audit
	switch {
	case p != nil:
	case audit != "":
		return nil, errors.New("--audit needs the permissions of " + project.DefaultDir + ", which doesn't exist")
	case o.fix:
		return nil, errors.New("--fix needs the permissions of " + project.DefaultDir + ", which doesn't exist")
	default:
		return nil, nil
	}
	grants, err := p.Grants()
	if err != nil || audit == "" {
		return grants, err
	}
	log, err := a.FS.Open(a.Absolute(audit))
	if err != nil {
		return nil, fmt.Errorf("--audit %s: %w", audit, diag.Cause(err))
	}
	defer func() { _ = log.Close() }() // it was read
	return grants, grants.UseAudit(audit, log)
}
