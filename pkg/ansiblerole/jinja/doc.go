// Package jinja parses Jinja templates and expressions as Ansible uses them. It never fails: what it cannot parse is an
// expression of unknown value. It evaluates nothing.
package jinja
