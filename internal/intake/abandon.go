package intake

import (
	"context"
	"io"
)

// abandonable opens and reads what may keep one waiting, such as a pipe that nobody writes to, and ends with the
// context's error as soon as that is done. What waits then is left to the end of the program.
func abandonable(ctx context.Context, open func() (io.ReadCloser, error)) io.ReadCloser {
	r, w := io.Pipe()
	stop := context.AfterFunc(ctx, func() { w.CloseWithError(ctx.Err()) })
	go func() {
		defer stop()
		in, err := open()
		if err == nil {
			_, err = io.Copy(w, in)
			_ = in.Close() // nothing was written to it
		}
		w.CloseWithError(err)
	}()
	return r
}
