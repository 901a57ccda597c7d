// Package release installs, compares, upgrades, repairs and uninstalls the Helm release of one custom resource. It uses Helm's
// actions and storage, so it continues releases that operator-sdk's helm-operator or the helm command has made, and they continue
// its own.
//
// A [Factory] holds what all releases of a process share. [Factory.Release] returns a [Release] for one pass over one custom
// resource. A pass calls [Release.Plan], does what the [Plan] asks for, and ends; it calls [Release.Repair] if there is nothing
// else to do.
//
// # Plans
//
// Plan answers whether the deployed revision still is what the chart and the values make. Helm's own answer is a dry run of an
// upgrade, in which every chart with a random password or a new certificate differs each time. So Plan renders the chart in the
// situation of the deployed revision, as an installation if it was installed, and compares the objects with the stored manifest,
// field by field (view, differences). It removes first what the API server doesn't see, such as nulls, empty maps and the namespace
// of the release (normalize).
//
// A plan that requires nothing is remembered together with the chart, the values and the version of the record (state). The next
// pass reads the metadata of the records, finds them unchanged, and renders nothing.
//
// # Random content
//
// A rendering for a comparison replaces functions of chance and time by functions of their arguments, in one of two variants. If
// the first variant differs from the deployed revision and has called such a function, the second one shows why: a field that
// differs between the variants is random and doesn't require an upgrade. An object whose name is random gets the name that it has
// in the deployed revision (alignNames).
//
// Random content has to be upgraded if its inputs change, such as a certificate for another host. A record therefore contains a
// fingerprint of each random field, the hash of what the first variant makes of it: it changes only with the templates and the
// values.
//
// Whenever an upgrade renders the chart, random fields keep the content of the revision before, so that passwords don't rotate. A
// template that looks up its own Secret would render something else in the next comparison; settle renders it as it will be then.
//
// # The lookup function
//
// Templates can read the cluster. Plan renders without access to it first, and reads the cluster only if a template called lookup
// and the result differs or fails, or if the watch asks for it (dryRunOption: server). An object that a template leaves out only
// because lookup finds it isn't deleted (retain).
//
// # Records
//
// The records are Secrets as in Helm 3, with an owner reference to the custom resource. A release of the same name that belongs to
// another custom resource, or that was made from another chart, is neither changed nor deleted. A revision that an interrupted pass
// has left pending is continued: a pending installation as an installation, a pending upgrade as one more upgrade.
//
// A record that is larger than a Secret is stored in several; see chunkedSecrets.
//
// # Hooks
//
// A change of hooks that can still be run is a difference, too (laterHooks). Their random content is not kept: they are run again.
//
// # CRDs
//
// The CRDs of a chart belong to no release. Options.CRDs says whether they are created and updated. A CRD that was compared with the
// chart's is not compared again, by any release of the process, until its metadata change (crdStates). Annotations of an updated CRD
// say which chart it comes from, so that charts with different versions of a CRD don't overwrite each other's (foreignCRD).
//
// # Objects of others
//
// An installation or upgrade is refused if an object of the chart exists and doesn't belong to the release, unless
// Options.TakeOwnership permits a takeover ([Takeover]). Before an object is changed, the record of the revision gets a patch that
// restores it, and the object gets the metadata of ownership in a request that fails if it has changed (adoption). What removes the
// objects of a revision that was never deployed gives such objects back instead.
//
// # Failures
//
// Check asks the API server by dry runs whether it accepts what Install or Upgrade would do. It uses Helm's client for each object,
// with a transport that makes requests dry runs, so that what is checked is what is sent later.
//
// A failed installation is removed, so that the next pass starts again. A failed upgrade is rolled back ([RolledBackError]). Options
// contain other strategies. If the context ends, neither happens: the next pass, maybe of another process, continues.
//
// Others can work on a release of the same name at any time: a custom resource of another kind, the helm command, or the operator's
// next leader. A pass therefore deletes and changes only records that still are as it has read or written them (storedRecord), and
// what it cleans up belongs to the custom resource.
//
// # Hooks
//
// The Jobs and Pods of hooks have a label that identifies what they were made of ([HookLabel]) and the revision that started them. If an
// action was interrupted, because its context or the process ended, the next one adopts those that it would create in the same way,
// and waits for them; it deletes the others. Jobs and Pods that the interrupted action has completed are not run again. A failed action is not continued: its hooks run again. [Options].Wait is called for each
// wait.
//
// The record of a revision says whether its tests have to be run (testKey), so that [Release.Test] runs them once, also if another
// process continues. A revision whose tests fail becomes a failed one, and the strategy is followed.
//
// # Repair
//
// Repair compares live objects with the manifest, creates missing ones and patches those that differ, in the fields that the
// manifest has. An object is only read if its metadata in the cache of an [Observer] differ from those after the last comparison:
// the generation, labels, annotations, owners, or, for kinds without a generation, the resource version.
package release
