// Package query asks a terminal what images it can show, and takes its answers out of the typed
// input.
//
// It asks while the screen is already shown: nothing waits for an answer, however slow the line,
// and late answers are not taken for keys. Every terminal answers the question for its device
// attributes (DA1), so that this answer marks the end of the answers to earlier questions.
//
// It asks twice. The first question is for the name (XTVERSION) and DA1, which no terminal is known
// to handle badly. Only a terminal that seems able to show images is asked the rest: tmux takes
// kitty's question for a title.
package query
