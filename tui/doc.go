// Package tui is the screen of a running experiment: one Bubble Tea model that
// shows how well the agent does and how alive its network is, and lets a person turn
// the knobs of prioritized generative replay while it trains.
//
// # The lab and the screen
//
// They share nothing but messages. The screen looks at the lab some times a second
// (Snapshot, Events) and asks it for things (Send, which does not block); it shows
// what the lab says, never what was asked for. A change of a knob is staged, sent,
// confirmed at a step and later in force, and each stage is visible. The terminal is
// a view, never the owner: when it hangs up the screen closes and training goes on.
//
// # Where things are
//
// The model routes messages and divides the terminal; what a pane shows is the pane's own.
// panes.go has the table of panes and wires everything else: model.go takes messages,
// keyboard.go reads whole keys and dispatch.go gives them out one by one, keys.go gathers
// the keys of the run, the panes and the screen into the one table that drives dispatch,
// footer, help and palette, layout.go divides the screen by its size, draw.go puts a frame
// together, headline.go and footer.go are its first and last line, screen.go is what panes
// may ask for.
//
// pane is what screen and panes promise each other, with a package below it for each pane;
// steer stages and sends; history keeps what events said; theme draws and format writes;
// picker is the first screen, lesson and help lie over the panes; chart and picture draw
// lines and images as text.
//
// replay.go is a lab made of a journal, plain.go the same model as lines, still.go one
// frame without a terminal. run.go, terminal.go, link.go and capture.go own the terminal,
// serve.go shows the screen to a terminal of another process, settings.go has the user's
// files.
//
// docs/recipes/pane.md adds a pane; docs/key-press.md follows a key press from here to the
// sampler.
//
// # Why
//
// Panes are drawn when something they show has changed and kept otherwise, and
// frames are put together only when a pane changed, because View runs after every
// message. Styles come from one lipgloss renderer held by the theme, so that several
// screens on different terminals can live in one process. The lab never sends to the
// program: measured, an unbuffered Send per step to a slow terminal cut training
// from 2,000 to 118 steps/s.
package tui
