// Package tui is the screen of a running experiment: one Bubble Tea model that shows how well the
// agent does and how alive its network is, and lets a person turn the knobs of prioritized
// generative replay while it trains.
//
// # The lab and the screen
//
// The lab and the screen share nothing but messages. The screen polls the lab a few times a second
// (Snapshot, Events) and sends it requests (Send, which does not block). It shows what the lab
// reports, never what was asked for. A change of a knob is staged, sent, confirmed at a step and
// later in force, and each stage is visible. The terminal is a view, never the owner: when it hangs
// up the screen closes and training goes on.
//
// # Where things are
//
// The model routes messages and divides the terminal; each pane decides what it shows. panes.go has
// the table of panes and wires everything else: model.go takes messages, keyboard.go reads whole
// keys, and dispatch.go hands them out one by one. keys.go gathers the keys of the run, the panes
// and the screen into one table, which drives dispatch, footer, help and palette. layout.go divides
// the screen by its size, draw.go puts a frame together, headline.go and footer.go write its first
// and last line, and screen.go has what panes may ask of the screen.
//
// pane is the contract between the screen and its panes, with a package below it for each pane;
// steer stages and sends; history keeps what the events report; theme draws and format writes;
// picker is the first screen; lesson and help lie over the panes; chart and picture draw lines and
// images as text.
//
// replay.go plays a journal as a lab, plain.go shows the same model as lines, and still.go draws
// one frame without a terminal. run.go, terminal.go, link.go and capture.go own the terminal,
// serve.go shows the screen on a terminal of another process, and settings.go reads and writes the
// user's files.
//
// docs/recipes/pane.md explains how to add a pane; docs/key-press.md follows a key press from here
// to the sampler.
//
// # Why
//
// View runs after every message. Panes are therefore drawn only when something they show has
// changed, and a frame is put together only when a pane has changed. Styles come from one lipgloss
// renderer held by the theme, so that several screens on different terminals can live in one
// process. The lab never sends to the program: in a measurement, an unbuffered Send per step to a
// slow terminal cut training from 2,000 to 118 steps/s.
package tui
