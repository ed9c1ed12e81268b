package dirsource

import (
	"os"
	"strconv"
	"time"
)

// raceTime is how long after a change another one may leave the same times: the coarsest
// clock of a file system that is in use counts two seconds.
const raceTime = 2 * time.Second

// tag tells states of a file apart. One that was changed just before it was looked at has
// a tag that never comes again, so that the next run reads it once more.
func (s *Source) tag(info os.FileInfo, now time.Time) string {
	b := appendState(make([]byte, 0, 64), info)
	_, changed := identity(info)
	if now.Sub(changed) < raceTime {
		b = appendTime(append(b, " at"...), now)
	}
	if s.MD5 {
		b = append(b, " md5"...) // of an unchanged file it is to be learned, too
	}
	return string(b)
}

// appendState appends all that tells without reading a file that it is another.
func appendState(b []byte, info os.FileInfo) []byte {
	inode, changed := identity(info)
	b = strconv.AppendInt(b, info.Size(), 10)
	b = appendTime(b, info.ModTime())
	b = append(b, ' ')
	b = strconv.AppendUint(b, inode, 10)
	return appendTime(b, changed)
}

func appendTime(b []byte, t time.Time) []byte {
	b = strconv.AppendInt(append(b, ' '), t.Unix(), 10)
	return strconv.AppendInt(append(b, '.'), int64(t.Nanosecond()), 10)
}
