// Package outside runs environments of other programs. A program is a child process that speaks
// protocol 1 over its standard input and output; pgrlab_env.py speaks it for environments of
// Gymnasium and dm_env and for plain Python classes.
//
// # Protocol 1
//
// Requests and replies are frames: a header of 12 bytes, little-endian, and a body.
//
//	u32 length of the body, at most 64 MiB
//	u8  kind
//	u8  protocol, 1
//	u16 k, the number of copies of the environment that are concerned
//	u32 sequence; a reply repeats that of its request
//
// There is one reply to each request, of the same kind, in order. The arrays of a body lie one after the
// other, numbers of 8 bytes first. O and A are the sizes of an observation and of an action.
//
//	kind       request                                   reply
//	1 hello    JSON: protocols, program, task, options   2 spec, JSON: see Spec
//	3 reset    u64 seed[k], u64 episode[k], u16 copy[k]  f4 obs[k,O]
//	4 step     f4 action[k,A], u16 copy[k]               f8 reward[k], f4 obs[k,O], u8 flags[k]
//	5 save     u16 copy (k is 1)                         bytes
//	6 load     u16 copy (k is 1), bytes                  nothing
//	7 close    nothing                                   none: the program exits
//	8 picture  u16 copy, u16 width, u16 height (k is 1)  u8 red, green, blue of height × width pixels
//	15 error                                             JSON: text, trace, fatal
//
// A copy exists from the first reset on that names it. The seed of a reset is below 2³¹ and differs from
// episode to episode: an environment may ignore the number of the episode. Actions are in the environment's
// own bounds, or the number of a choice, from 0 on. Flags are 1 terminated, 2 truncated and 4 episode lost.
// A program answers a request that it does not know, or cannot meet, with an error; one that is not fatal
// concerns this request alone. It exits when its input ends.
//
// A signal to a whole job, as Slurm sends it to all processes of a step, reaches the program too. It ignores
// SIGTERM, SIGINT, SIGHUP, SIGUSR1 and SIGUSR2: pgrlab, which saves the run then, still needs it. One that stays
// after its input has ended gets SIGTERM and SIGKILL, each after two seconds.
//
// The protocol owns the two descriptors: a program moves them away before anything else runs, and puts the
// null device and standard error in their places, or one print would break the stream.
package outside
