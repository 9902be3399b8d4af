// Package formula is the language in which tasks and relevance are written down: rewards,
// observations, ends of episodes, F. A formula has a value and no effects; it has no loops, and its
// cost is known when it is compiled.
//
//	0.7*rank(td) + 0.3*rank(curiosity)
//	tolerance(xpos("torso")[2], 1.2, inf, 0.6) * (1 + 5*clip((qpos[0] - prev.qpos[0])/dt, 0, 1))/6
//	let speed = norm(obs[2:5]); speed > 1 and not done ? speed : 0
//
// # The language
//
// The grammar is that of github.com/expr-lang/expr, whose parser reads it; what a formula means is
// decided here. + - * / % ^, where ^ is a power and binds more than a minus before it; comparisons,
// of which several may stand in a row; and, or, not; c ? x : y and if c { x } else { y }; let a = x;
// y; // comments; functions (Functions lists them); the constants inf and pi. All numbers are
// float64, so 1/2 is 0.5.
//
// A value is a number, a condition (only where one is asked for; a flag such as done may stand for
// both), or a vector. Operators and functions of one number work on each element of a vector, and a
// number goes with all elements. x[2], x[2:5], x[2:] and x["pitch speed"] are elements; their indices
// stand in the formula. [a, b, v] joins numbers and vectors. Text is only a name: in brackets, as in
// sensor("toe"), or the shape of tolerance.
//
// # How a caller uses it
//
//	f, err := formula.Parse(text)        // syntax; f.Uses() are the names, f.String() the canonical text
//	p, err := f.Number(names)            // or f.Truth, f.Vector: names says what the names stand for
//	m := p.Machine(values, 1)            // values gives the numbers; a machine is for one goroutine
//	r := m.Number()                      // or m.Truth(), m.Vector(dst): one evaluation, no allocation
//
// Names maps a name, with a text in its brackets or without, to a Quantity: a slot number of the
// caller's own choice, and a width. Values is asked for elements of slots whenever a formula is
// evaluated; only what is named is asked for. A caller that lets formulas draw random numbers has
// Names that are Draws as well, and Values that are Drawer. Random functions are called in the order
// of the text, both sides of a choice among them.
//
// A formula of many rows is compiled by Columns, which may have functions of a whole column, such as
// rank: they are measured on all rows first, in passes, and then any rows are scored against what was
// measured. ScoreTerms has the terms of the sum that a formula is.
//
// All errors of Parse, Number, Truth and Vector are *Error: Error() is one line with the column,
// Caret() the formula with a caret below the place. A value that is not finite is for the caller to
// refuse; Machine.Trouble says where it comes from.
//
// # Why
//
// A program is a list of operations, each of which makes a register from others, for a block of rows
// at a time. A reward is a block of one row; a column of relevance comes in blocks that fit the
// first cache. So both have one evaluator, which allocates nothing. Each operation stores its
// result, so no machine fuses a product with a sum, and only exp, log and their like may differ
// between machines. What a formula says twice is computed once.
package formula
