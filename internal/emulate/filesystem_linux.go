package emulate

import (
	"errors"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fuse"
	"golang.org/x/sys/unix"

	"ebscope/internal/units"
)

// fuseSystem is a FUSE file system of one directory with one file: the volume.
type fuseSystem struct {
	fuse.RawFileSystem // what is not implemented here answers ENOSYS
	volume             *volume
	image              int // file descriptor of the image
	size               units.Bytes
}

const (
	rootNode = fuse.FUSE_ROOT_ID
	fileNode = rootNode + 1

	// Nothing changes behind the kernel's back, so it may keep what it knows.
	unchanging = 24 * time.Hour
)

func newFuseSystem(v *volume, image int, size units.Bytes) *fuseSystem {
	return &fuseSystem{RawFileSystem: fuse.NewDefaultRawFileSystem(), volume: v, image: image, size: size}
}

func (f *fuseSystem) attributes(node uint64, out *fuse.Attr) fuse.Status {
	out.Ino, out.Nlink = node, 1
	out.Uid, out.Gid = uint32(unix.Geteuid()), uint32(unix.Getegid())
	switch node {
	case rootNode:
		out.Mode = fuse.S_IFDIR | 0o700
	case fileNode:
		out.Mode = fuse.S_IFREG | 0o600
		out.Size, out.Blksize = uint64(f.size), blockSize
	default:
		return fuse.ENOENT
	}
	return fuse.OK
}

func (f *fuseSystem) Lookup(_ <-chan struct{}, header *fuse.InHeader, name string, out *fuse.EntryOut) fuse.Status {
	if header.NodeId != rootNode || name != f.volume.name {
		return fuse.ENOENT
	}
	out.NodeId, out.Generation = fileNode, 1
	out.SetEntryTimeout(unchanging)
	out.SetAttrTimeout(unchanging)
	return f.attributes(fileNode, &out.Attr)
}

func (f *fuseSystem) GetAttr(_ <-chan struct{}, in *fuse.GetAttrIn, out *fuse.AttrOut) fuse.Status {
	out.SetTimeout(unchanging)
	return f.attributes(in.NodeId, &out.Attr)
}

// SetAttr changes nothing and succeeds: like a disk, the file has one size, and opening it with O_TRUNC leaves it alone.
func (f *fuseSystem) SetAttr(_ <-chan struct{}, in *fuse.SetAttrIn, out *fuse.AttrOut) fuse.Status {
	out.SetTimeout(unchanging)
	return f.attributes(in.NodeId, &out.Attr)
}

// Open makes every read and write come through, past the page cache, and lets writes run side by side.
func (f *fuseSystem) Open(_ <-chan struct{}, _ *fuse.OpenIn, out *fuse.OpenOut) fuse.Status {
	out.OpenFlags = fuse.FOPEN_DIRECT_IO | fuse.FOPEN_PARALLEL_DIRECT_WRITES
	return fuse.OK
}

func (f *fuseSystem) OpenDir(<-chan struct{}, *fuse.OpenIn, *fuse.OpenOut) fuse.Status {
	return fuse.OK
}

func (f *fuseSystem) ReadDir(_ <-chan struct{}, in *fuse.ReadIn, out *fuse.DirEntryList) fuse.Status {
	if in.Offset == 0 {
		out.AddDirEntry(fuse.DirEntry{Name: f.volume.name, Ino: fileNode, Mode: fuse.S_IFREG, Off: 1})
	}
	return fuse.OK
}

func (f *fuseSystem) ReadDirPlus(<-chan struct{}, *fuse.ReadIn, *fuse.DirEntryList) fuse.Status {
	return fuse.ENOSYS
}

// StatFs matters to the loop driver: it takes the granularity of discards from the block size.
func (f *fuseSystem) StatFs(_ <-chan struct{}, _ *fuse.InHeader, out *fuse.StatfsOut) fuse.Status {
	out.Bsize, out.Frsize, out.NameLen = blockSize, blockSize, 255
	out.Blocks, out.Files = uint64(f.size/blockSize), 1
	return fuse.OK
}

// Read takes the data at once and hands it over when the I/O is due.
func (f *fuseSystem) Read(_ <-chan struct{}, in *fuse.ReadIn, buf []byte) (fuse.ReadResult, fuse.Status) {
	left := f.size - units.Bytes(in.Offset)
	if in.Offset >= uint64(f.size) {
		return fuse.ReadResultData(nil), fuse.OK
	}
	buf = buf[:min(units.Bytes(len(buf)), left)]
	r := f.volume.arrive(false, units.Bytes(in.Offset), units.Bytes(len(buf)))
	err := f.serve(r, unix.Pread, buf, int64(in.Offset))
	if err != nil {
		return nil, fuse.ToStatus(err)
	}
	return fuse.ReadResultData(buf), fuse.OK
}

func (f *fuseSystem) Write(_ <-chan struct{}, in *fuse.WriteIn, data []byte) (uint32, fuse.Status) {
	if in.Offset >= uint64(f.size) || units.Bytes(len(data)) > f.size-units.Bytes(in.Offset) {
		return 0, fuse.Status(syscall.ENOSPC)
	}
	r := f.volume.arrive(true, units.Bytes(in.Offset), units.Bytes(len(data)))
	err := f.serve(r, unix.Pwrite, data, int64(in.Offset))
	if err != nil {
		return 0, fuse.ToStatus(err)
	}
	return uint32(len(data)), fuse.OK
}

// serve does an I/O, and returns when it is due.
func (f *fuseSystem) serve(r request, call func(fd int, p []byte, offset int64) (int, error), buf []byte, offset int64) (err error) {
	if r.failed {
		err = unix.EIO
	} else {
		err = transfer(call, f.image, buf, offset)
	}
	f.volume.complete(r)
	return err
}

// transfer repeats a positioned read or write until all of buf is done.
func transfer(call func(fd int, p []byte, offset int64) (int, error), fd int, buf []byte, offset int64) error {
	for len(buf) > 0 {
		n, err := call(fd, buf, offset)
		switch {
		case errors.Is(err, unix.EINTR):
		case err != nil:
			return err
		case n == 0:
			return unix.EIO // the image has been cut short by somebody else
		default:
			buf, offset = buf[n:], offset+int64(n)
		}
	}
	return nil
}

// Flush and Fsync are free, as on EBS, where a completed write is durable. The data is in the image's page cache, so
// it outlives this process, though not a crash of the machine.
func (f *fuseSystem) Flush(<-chan struct{}, *fuse.FlushIn) fuse.Status { return fuse.OK }

func (f *fuseSystem) Fsync(<-chan struct{}, *fuse.FsyncIn) fuse.Status { return fuse.OK }

// Fallocate discards and zeroes, free of charge, by punching holes into the image. Preallocation has nothing to do.
func (f *fuseSystem) Fallocate(_ <-chan struct{}, in *fuse.FallocateIn) fuse.Status {
	if in.Offset > uint64(f.size) || in.Length > uint64(f.size)-in.Offset {
		return fuse.Status(syscall.ENOSPC)
	}
	switch in.Mode &^ unix.FALLOC_FL_KEEP_SIZE {
	case 0:
		return fuse.OK
	case unix.FALLOC_FL_PUNCH_HOLE, unix.FALLOC_FL_ZERO_RANGE:
		const punch = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
		return fuse.ToStatus(unix.Fallocate(f.image, punch, int64(in.Offset), int64(in.Length)))
	}
	return fuse.Status(syscall.EOPNOTSUPP)
}
