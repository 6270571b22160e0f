package seal

import (
	"regexp"

	"github.com/probefleet/probefleet/internal/uptime"
)

var sealedText = regexp.MustCompile(format + `\.([0-9a-f]{12})\.[A-Za-z0-9_-]+`)

// Reseal has every sealed secret in a text, alone or in a document, sealed with the first key:
// all is how many there are, fresh how many of these were not yet. If one does not open the
// text stays as it was, and the error is ErrUnknownKey or ErrDamaged.
func (b *Box) Reseal(text string) (resealed string, all, fresh int, err error) {
	resealed = sealedText.ReplaceAllStringFunc(text, func(sealed string) string {
		all++
		if sealedText.FindStringSubmatch(sealed)[1] == b.keys[0].id {
			return sealed
		}
		opened, failed := b.Open(uptime.Sealed(sealed))
		if failed != nil {
			err = failed
			return sealed
		}
		fresh++
		return string(b.Seal(opened))
	})
	if err != nil {
		return text, all, 0, err
	}
	return resealed, all, fresh, nil
}
