// Package hdf5 reads arrays of numbers from HDF5 files, as D4RL, Minari and robomimic write them:
// what h5py stores unless it is asked for the newest format.
//
// It follows the HDF5 File Format Specification, version 3.0 (The HDF Group): superblocks 0 to 3,
// object headers 1 and 2, groups by symbol table or by links (in the header, or in a fractal heap
// that a B-tree of version 2 indexes), arrays that are compact, contiguous or in chunks with a
// B-tree of version 1, the filters deflate, shuffle and fletcher32, and elements that are integers,
// floating-point numbers or enumerations, such as booleans. What else a file may contain is
// refused where it is read, and not before: text beside the numbers does no harm.
//
// # Why
//
// The one Go module without cgo reads neither enumerations nor groups of more than some 20 members,
// which rules out all booleans, and the files of Minari.
//
// Nothing in a file is believed: each offset lies in the file, each count and product is bounded
// before memory is taken for it, and what is read to find the way, in all, is at most a multiple
// of the file's size, so that no file leads in circles.
package hdf5
