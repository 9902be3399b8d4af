// Package query asks a terminal what images it can show, and takes its answers out of what
// is typed.
//
// It asks while the screen is shown already: nothing waits for an answer, however slow the
// line, and answers that come late are no keys. Every terminal answers the question for its
// device attributes (DA1), so that its answer ends those to the questions before it.
//
// It asks twice. The first time for the name (XTVERSION) and DA1, which no terminal is known
// to take amiss. Only who seems able to show images is asked the rest: tmux takes kitty's
// question for a title.
package query
