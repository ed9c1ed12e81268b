// Package dirsource makes the files of a directory tree a [harvest.Source]: what is
// harvested from it can be published by any protocol.
//
// # Harvesting
//
//	src := &dirsource.Source{Dir: "/srv/laws", Base: "https://law.example/"}
//	report, err := h.Run(ctx, src)
//
// Each regular file is a resource. Its id is Base and its path below Dir, its time that
// of the file, its media type known by its name or else by its first bytes. A run lists
// the whole tree as one snapshot: what is no longer there is deleted, a file under
// another name is another resource. The second run reads no file that stayed as it is.
//
// # Ids
//
// A path is escaped byte by byte: letters, digits and -._~!$&'()*+,;=:@ stand for
// themselves, slashes part the elements, and every other byte is a percent sign and two
// hexadecimal digits. So names of any bytes survive, also those that are not UTF-8, and
// the ids are URLs that [websync.PathLocator] keeps, if the source is among its Own: but
// for the names that not every server finds. An id longer than [harvest.MaxID] is a
// finding and counts as skipped.
//
// # Changes
//
// A file is read again when its size, its time or its inode is another than the last
// time, or the time at which the system last changed any of these, where it has one: that
// catches an edit that sets the old time again. The digest of the bytes decides whether
// there is a change. A file that was changed less than two seconds before the walk came
// by may change again without a trace, and is read once more by the next run; until then
// a Plan or an Audit counts it as a difference. This takes a clock that agrees with that
// of the file system.
//
// A file that changes while it is read is read again. If it never keeps still, the get
// fails with a [ChangedError] and is tried again in the next run.
//
// # Deletions
//
// A directory that can't be read, a file that can't be looked at and a Dir that is
// replaced during the walk are Problems: the run lists the rest and deletes nothing. A
// Dir that does not exist is an error. An empty directory is an empty collection, also
// where a file system should be mounted: [harvest.Harvester] has limits on deletions for
// that. Other Include, Exclude, Hidden or Base withhold deletions until they are
// approved.
//
// # Memory
//
// It does not grow with the tree. A directory is read to its end before its first file is
// yielded, and what was seen of it goes to a temporary file if it is long. No directory
// stays open while events are taken. The names of a directory are yielded in sorted runs,
// those of up to 1,024 files in one.
//
// # Not here
//
// Symbolic links are not followed, and neither they nor devices, sockets and pipes are
// listed. Empty directories leave no trace. Nothing watches the tree: run the harvest
// again.
package dirsource
