// Package images makes the images of a learner's batches: stacks of shifted frames, as bytes in the
// place of numbers (op.FromBytes).
//
// On a device that does not need the host between programs (device.Sequencer: a GPU), a Store holds a
// copy of the frames, each once. For a batch the host names the frames of each stack and their
// shift, some bytes an image, and the device makes the images (device.StackFrames). On other
// devices, and where there is no memory for the copy, the host makes them. The copy yields to
// everything else that needs the device's memory (device.Sequencer's Cache). Where it cannot be taken
// again at once, Remark says so to a person, and Retake tries again.
package images
