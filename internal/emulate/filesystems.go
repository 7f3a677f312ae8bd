package emulate

import (
	"fmt"
	"io"
	"strings"
)

// fileSystem is a kind of file system that can be on a volume.
type fileSystem struct {
	kind   string
	magic  string // what marks its superblock
	offset int64  // where on the volume that is
	force  string // has mkfs overwrite what is there, where it otherwise asks or refuses
	needs  string // the package with the mkfs program
}

// The marks are those of each file system's on-disk format: xfs_sb.sb_magicnum, ext4_super_block.s_magic and
// btrfs_super_block.magic.
var fileSystems = []fileSystem{
	{kind: "xfs", magic: "XFSB", force: "-f", needs: "xfsprogs"},
	{kind: "ext4", magic: "\x53\xef", offset: 1024 + 0x38, force: "-F", needs: "e2fsprogs"},
	{kind: "btrfs", magic: "_BHRfS_M", offset: 65536 + 0x40, force: "-f", needs: "btrfs-progs"},
}

// FileSystems returns the kinds of file systems that a volume can be formatted with.
func FileSystems() (kinds []string) {
	for _, f := range fileSystems {
		kinds = append(kinds, f.kind)
	}
	return kinds
}

func fileSystemOf(kind string) (fileSystem, error) {
	for _, f := range fileSystems {
		if f.kind == kind {
			return f, nil
		}
	}
	return fileSystem{}, fmt.Errorf("file system %q is not known; use %s", kind, strings.Join(FileSystems(), ", "))
}

// detect returns the kind of the file system on a volume.
func detect(volume io.ReaderAt) (kind string, err error) {
	for _, f := range fileSystems {
		mark := make([]byte, len(f.magic))
		if _, err := volume.ReadAt(mark, f.offset); err != nil {
			return "", fmt.Errorf("looking for a file system: %w", err)
		}
		if string(mark) == f.magic {
			return f.kind, nil
		}
	}
	return "", fmt.Errorf("it holds no file system that is known (%s); format it first", strings.Join(FileSystems(), ", "))
}
