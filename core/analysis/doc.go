// Package analysis measures what a run shows: how many neurons of the policy are
// dormant, and how relevance is distributed over transitions (Wang et al. 2025,
// figures on the dormant ratio and on F).
package analysis
