package manifest

import (
	"fmt"

	"ebscope/internal/lazy"
)

// maxRepository is how many characters an image's name may have before its tag and digest.
const maxRepository = 255

// imageForm is a reference to an image, https://github.com/distribution/reference: host and port, path in lower case, tag,
// digest. The first group is what comes before tag and digest.
var imageForm = lazy.Regexp(`^((?:` + imageHost + `/)?` + imagePart + `(?:/` + imagePart + `)*)` +
	`(?::[A-Za-z0-9_][A-Za-z0-9_.-]{0,127})?` +
	`(?:@[A-Za-z][A-Za-z0-9]*(?:[-_+.][A-Za-z][A-Za-z0-9]*)*:[0-9a-fA-F]{32,})?$`)

const (
	hostPart  = `[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?`
	imageHost = `(?:` + hostPart + `(?:\.` + hostPart + `)*|\[[0-9a-fA-F:]+\])(?::[0-9]+)?`
	imagePart = `[a-z0-9]+(?:(?:\.|_|__|-+)[a-z0-9]+)*`
)

// checkImage says what is wrong with a reference to an image, which a kubelet would only find once volumes are made.
func checkImage(image string) error {
	if parts := imageForm().FindStringSubmatch(image); parts == nil || len(parts[1]) > maxRepository {
		return fmt.Errorf("image %q is no reference to an image: write it like %s, in lower case and without spaces", image, DefaultImage)
	}
	return nil
}
