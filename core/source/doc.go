// Package source is where env steps come from: the copies of an environment that a member trains in, and
// those in which its policy is judged. What an environment can do beyond task.Env is found out here and
// nowhere else, and what happens when one fails is decided here: a lost episode is followed by the next
// one, and an environment that cannot go on is made again.
package source
