package nn

// Parameters is the number of parameters of an MLP with the given widths, from its input to its
// output. It does not overflow, whatever the configuration says.
func Parameters(widths ...int) float64 {
	total := 0.0
	for i := range len(widths) - 1 {
		total += (float64(widths[i]) + 1) * float64(widths[i+1])
	}
	return total
}
