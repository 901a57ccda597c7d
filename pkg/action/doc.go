// Package action contains what all commands that change a project share, as a library, and the commands that do not depend on the
// layout of the project: init, create api, delete api, edit and generate. The packages below it contain the others.
//
// [Open] locks the directory of a project and returns the [Project]. Each command is one transaction of it: options in, a [Result] out.
// What a command changes is in an overlay of the project's files until [Project.Update] writes all of it or nothing. Nothing is printed:
// messages during a command go to Config.Report.
//
// What commands do with the kinds of a project depends on its layout, and is behind the interface [Kinds]. The caller passes the
// implementations in Config.Layouts; package layouts has the ones of Operon.
package action
