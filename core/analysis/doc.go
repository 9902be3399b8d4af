// Package analysis computes the measurements of a run: how many neurons of the policy
// are dormant, how relevance is distributed over transitions, and how far two relevance
// functions agree. It also measures the quality of generated transitions: how far they
// are from what the task would have done, from the range of the real transitions and
// from the nearest of them, and where they lie in a common plane (Wang et al. 2025).
package analysis
