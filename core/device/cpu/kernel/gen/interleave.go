package main

import (
	"slices"

	"github.com/mmcloughlin/avo/ir"
)

// interleave emits parts that do not use each other's results, their instructions in
// turn and so that all end together. A CPU looks some hundred instructions ahead for
// those that can start; of parts that are long chains it finds work in each then.
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
		for i := range parts { // the one that lags most, by the part of it that is done
			if done[i]*len(streams[next]) < done[next]*len(streams[i]) {
				next = i
			}
		}
		f.Nodes = append(f.Nodes, streams[next][done[next]])
		done[next]++
	}
}
