// Package forks trains the children of a run: fork makes their folders, Group trains them
// beside their parent in processes of their own, and train-forks goes on with those that wait
// when the parent's process has gone.
package forks
