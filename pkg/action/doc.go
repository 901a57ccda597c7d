// Package action contains the commands that change a project, as a library. Open returns the Project in a directory, and
// each of its methods runs one command as one transaction: options in, a Result out. Nothing is printed: messages during a
// command go to Config.Report.
package action
