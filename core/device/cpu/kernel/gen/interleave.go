package main

import (
	"slices"

	"github.com/mmcloughlin/avo/ir"
)

// interleave emits parts that do not use each other's results, alternating their instructions so
// that all parts end together. A CPU looks some hundred instructions ahead for ones that can
// start; if the parts are long chains, it then finds work in each of them.
func (g *gen) interleave(parts ...func()) {
	file, _ := g.Result() // compile reports the error
	functions := file.Functions()
	f := functions[len(functions)-1]
	start := len(f.Nodes)
	streams := make([][]ir.Node, len(parts))
	for i, part := range parts {
		from := len(f.Nodes)
		part()
		streams[i] = slices.Clone(f.Nodes[from:])
	}
	total := len(f.Nodes) - start
	f.Nodes = f.Nodes[:start]
	done := make([]int, len(parts))
	for range total {
		next := 0
		for i := range parts { // the part that lags most, relative to its length
			if done[i]*len(streams[next]) < done[next]*len(streams[i]) {
				next = i
			}
		}
		f.Nodes = append(f.Nodes, streams[next][done[next]])
		done[next]++
	}
}
