// Package task defines what a run asks of the problem that it learns: environments, one by one
// (Env) and in lockstep (VecEnv), and how a run plays them (Environment).
package task
