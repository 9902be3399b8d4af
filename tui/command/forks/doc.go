// Package forks trains the children of a run: fork makes their folders, Group trains them beside
// their parent in processes of their own, and train-forks takes over the waiting ones when the
// parent's process has ended.
package forks
