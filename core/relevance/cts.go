package relevance

// contextTree is context-tree switching over one symbol of a sequence (Veness et al.
// 2012; mgbellemare/SkipCTS: python/cts/model.py): the probability of a symbol given
// the symbols before it, as a mixture over how many of them matter. Every node keeps
// a Dirichlet estimator with Perks' prior, 1/symbols each, and the posterior weight of
// predicting by it (stay) instead of by the child that the next symbol of the context
// chooses (split). The first split is the nearest neighbour.
//
// Weights are kept normalised, so that they need no logarithm; the product over the
// symbols of a vector does, see Count.
type contextTree struct {
	symbols, depth int

	// Nodes, the root first.
	counts   []uint32  // [nodes, symbols]
	totals   []uint32  // of counts
	stay     []float64 // weight of the node's own estimator, 1 − that of its child
	children []int32   // [nodes, symbols]; 0: none yet
}

func newContextTree(symbols, depth int) *contextTree {
	t := &contextTree{symbols: symbols, depth: depth}
	t.grow()
	return t
}

// grow adds a node and returns it.
func (t *contextTree) grow() int32 {
	node := len(t.totals)
	t.counts = append(t.counts, make([]uint32, t.symbols)...)
	t.children = append(t.children, make([]int32, t.symbols)...)
	t.totals = append(t.totals, 0)
	t.stay = append(t.stay, 0.5)
	return int32(node)
}

// nodes is how many there are.
func (t *contextTree) nodes() int { return len(t.totals) }

// switching is α of the t-th update, counted from 1: how much of its weight each of
// the two models gives to the other.
func switching(update uint64) float64 { return 1 / (float64(update) + 1) }

// estimate is the estimator's probability of a symbol, now and after one more
// observation of it.
func (t *contextTree) estimate(node int32, symbol uint8) (now, after float64) {
	prior := 1 / float64(t.symbols)
	own, all := float64(t.counts[int(node)*t.symbols+int(symbol)]), float64(t.totals[node])
	return (own + prior) / (all + 1), (own + 1 + prior) / (all + 2)
}

// fresh is the estimate of a node that was never visited.
func (t *contextTree) fresh() (now, after float64) {
	prior := 1 / float64(t.symbols)
	return prior, (1 + prior) / 2
}

// look returns the probability of symbol after context, nearest neighbour first, and what it would
// be after one more observation with that α. It changes nothing.
func (t *contextTree) look(context []uint8, symbol uint8, alpha float64) (now, after float64) {
	return t.lookAt(0, 0, context, symbol, alpha)
}

func (t *contextTree) lookAt(node int32, level int, context []uint8, symbol uint8, alpha float64) (now, after float64) {
	own, ownAfter := t.estimate(node, symbol)
	if level == t.depth {
		return own, ownAfter
	}
	below, belowAfter := t.fresh()
	if child := t.children[int(node)*t.symbols+int(context[level])]; child != 0 {
		below, belowAfter = t.lookAt(child, level+1, context, symbol, alpha)
	}
	now, stay := mixed(t.stay[node], own, below, alpha)
	return now, stay*ownAfter + (1-stay)*belowAfter
}

// mixed is the mixture of a node's estimator and its child, and the estimator's
// weight after the update.
func mixed(stay, own, below, alpha float64) (now, after float64) {
	now = stay*own + (1-stay)*below
	return now, ((1-alpha)*stay*own + alpha*(1-stay)*below) / now
}

// update observes symbol after context and returns the probability that it had before.
func (t *contextTree) update(context []uint8, symbol uint8, alpha float64) float64 {
	return t.updateAt(0, 0, context, symbol, alpha)
}

func (t *contextTree) updateAt(node int32, level int, context []uint8, symbol uint8, alpha float64) (now float64) {
	now, _ = t.estimate(node, symbol)
	if level < t.depth {
		place := int(node)*t.symbols + int(context[level])
		if t.children[place] == 0 {
			t.children[place] = t.grow()
		}
		below := t.updateAt(t.children[place], level+1, context, symbol, alpha)
		now, t.stay[node] = mixed(t.stay[node], now, below, alpha)
	}
	t.counts[int(node)*t.symbols+int(symbol)]++
	t.totals[node]++
	return now
}
