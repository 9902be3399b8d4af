// Package analysis measures what a run shows: how many neurons of the policy are
// dormant, how relevance is distributed over transitions and where two relevance
// functions agree, and what generated transitions are worth: how far they are from
// what the task would have done, from the range of the real ones and from the nearest
// of them, and where they lie in a common plane (Wang et al. 2025).
package analysis
