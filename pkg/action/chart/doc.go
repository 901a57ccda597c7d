// Package chart generates the Helm chart that installs the operator of a project, from what config/default builds.
//
// The chart belongs to the user, who may edit all of its files. What was generated is recorded in .operon/bases/charts, and is the base of a
// three-way merge when the chart is generated again: edits survive. Where both the user and the generator changed the same lines, the file
// contains both between conflict markers, as after an upgrade.
package chart
