// Package dirsource makes the files of a directory tree a [harvest.Source]. Their records
// can be published by any protocol.
//
// # Harvesting
//
//	src := &dirsource.Source{Dir: "/srv/laws", Base: "https://law.example/"}
//	report, err := h.Run(ctx, src)
//
// Each regular file is a resource. Its id is Base and its path below Dir, and its time is
// that of the file. Its media type follows from its name or, if that is not known, from
// its first bytes. A run lists the whole tree as one snapshot: a file that is no longer
// there is deleted, and a renamed file is another resource. The second run reads only
// files that have changed.
//
// # Ids
//
// A path is escaped byte by byte: letters, digits and -._~!$&'()*+,;=:@ stand for
// themselves, slashes separate the elements, and every other byte is a percent sign and
// two hexadecimal digits. Names of any bytes survive, even if they are not UTF-8. If the
// source is among the Own of a [websync.PathLocator], it keeps the ids as URLs, except
// names that some servers can't serve. An id longer than [harvest.MaxID] is a finding and
// counts as skipped.
//
// # Changes
//
// A file is read again if its size, its time or its inode has changed since the last run,
// or, on systems that have it, the time of the last change of any of these: that detects
// an edit that restores the old time. The digest of the bytes decides whether there is a
// change. A file that was changed less than two seconds before the walk may change again
// without a trace, so the next run reads it once more; until then a Plan or an Audit
// counts it as a difference. This assumes a clock that agrees with that of the file
// system.
//
// A file that changes while it is read is read again. If it keeps changing, the get fails
// with a [ChangedError] and the next run tries again.
//
// # Deletions
//
// A directory that can't be read, a file whose state can't be read and a Dir that is
// replaced during the walk are Problems: the run lists the rest and deletes nothing. A
// Dir that does not exist is an error. An empty directory is an empty collection, even if
// a file system should be mounted there: the deletion limits of [harvest.Harvester] guard
// against that. After a change of Include, Exclude, Hidden or Base, deletions are
// withheld until they are approved.
//
// # Memory
//
// Memory does not grow with the tree. A directory is read to its end before its first
// file is yielded; a long listing goes to a temporary file. No directory stays open while
// events are taken. The names of a directory are yielded in sorted runs, those of up to
// 1,024 files in one.
//
// # Not supported
//
// Symbolic links are not followed, and neither they nor devices, sockets and pipes are
// listed. Empty directories are ignored. The tree is not watched: run the harvest again.
package dirsource
